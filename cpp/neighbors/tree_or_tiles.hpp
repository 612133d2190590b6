// When a k-d tree takes less time than tiles, or than a scan for a few queries.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// The measured rule. `python -m bench.calibrate --neighbors` shows how far its choice is from the better way.
//  - A tree takes longer to build than tiles, by about 10 ns a coordinate. Up to 8 features the queries make up for
//    that once there is one for each 2000 coordinates of points. If the points are kept, the tree takes the place of
//    scans, and the building takes as long as about 5 of them for each feature; queries of earlier calls count. In more
//    dimensions the tree may be of no use; then there have to be so many queries that the building is a few hundredths
//    of the time of the tiles.
//  - Tiles take a time in proportion to the number of points, and one for each neighbor. So a query may be compared
//    with one leaf of 16 points in 20, and with some more for each neighbor, fewer beyond 16 features. A few queries
//    tell how many there are.
class TreeOrTiles {
 public:
  TreeOrTiles(index_t n_queries, index_t n_points, index_t n_features, index_t k)
      : m_(static_cast<double>(n_queries)),
        n_(static_cast<double>(n_points)),
        d_(static_cast<double>(n_features)),
        k_(static_cast<double>(k)) {}

  // Whether to build one.
  bool tree_may_pay(bool kept) const {
    return (2000 * m_ >= n_ * d_ || (kept && m_ >= 5 * d_)) && (d_ <= 8 || n_ / 16 <= most_scans() || m_ >= 1000 * d_);
  }
  // Leaves that a query may be compared with.
  double most_scans() const { return n_ / 16 / 20 + (15 * k_ + 100) * (d_ > 16 ? 16 / d_ : 1); }

 private:
  double m_, n_, d_, k_;
};

}  // namespace spectralcls::detail
