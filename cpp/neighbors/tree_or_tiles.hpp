// Decides when a k-d tree is faster than tiles, or than a scan for a few queries.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// The rule follows from measurements. `python -m bench.calibrate --neighbors` compares its choice with the better way.
//  - A tree takes longer to build than tiles, by about 10 ns per coordinate. Up to 8 features, one query per 2000
//  coordinates makes up for that. If the points are kept, the tree replaces scans, and building it takes as long as
//    about 5 scans for each feature; queries of earlier calls count. With more features the tree may not pay off, so
//    building it may take only a few percent of the time of the tiles.
//  - Tiles take time in proportion to the number of points, and more for each neighbor. In that time a query can be
//  compared with a twentieth of the leaves of 16 points, and some more for each neighbor, fewer beyond 16 features. A
//  few
//    queries show how many leaves they need.
class TreeOrTiles {
 public:
  TreeOrTiles(index_t n_queries, index_t n_points, index_t n_features, index_t k)
      : m_(static_cast<double>(n_queries)),
        n_(static_cast<double>(n_points)),
        d_(static_cast<double>(n_features)),
        k_(static_cast<double>(k)) {}

  // Returns whether building a tree may pay off.
  bool tree_may_pay(bool kept) const {
    return (2000 * m_ >= n_ * d_ || (kept && m_ >= 5 * d_)) && (d_ <= 8 || n_ / 16 <= most_scans() || m_ >= 1000 * d_);
  }
  // The number of leaves that a query may be compared with.
  double most_scans() const { return n_ / 16 / 20 + (15 * k_ + 100) * (d_ > 16 ? 16 / d_ : 1); }

 private:
  double m_, n_, d_, k_;
};

}  // namespace spectralcls::detail
