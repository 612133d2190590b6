// Decides whether a k-d tree is faster than tiles or, for a few queries, than a scan.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// The rule follows from measurements. `python -m bench.calibrate --neighbors` compares its choice with the faster
// method.
//
// Building a tree takes longer than packing tiles, by about 10 ns per coordinate. With up to 8 features, one query per
// 2000 coordinates makes up for the extra time. If the points are kept for further calls, the tree replaces scans:
// building it takes as long as about 5 scans for each feature, and the queries of earlier calls count too. With more
// than 8 features the tree may not pay off, so building it may take only a few percent of the time of the tiles.
//
// The time of the tiles is proportional to the number of points and grows with the number of neighbors. In that time, a
// query can be compared with about one twentieth of the leaves (16 points each), plus 100 leaves and 15 per neighbor.
// With d > 16 features, these extra leaves are multiplied by 16 / d. A sample of queries shows how many leaves a query
// needs.
class TreeOrTiles {
 public:
  TreeOrTiles(index_t n_queries, index_t n_points, index_t n_features, index_t k)
      : m_(static_cast<double>(n_queries)),
        n_(static_cast<double>(n_points)),
        d_(static_cast<double>(n_features)),
        k_(static_cast<double>(k)) {}

  // Returns whether building a tree may pay off. `kept`: the points are kept for further calls.
  bool tree_may_pay(bool kept) const {
    return (2000 * m_ >= n_ * d_ || (kept && m_ >= 5 * d_)) && (d_ <= 8 || n_ / 16 <= most_scans() || m_ >= 1000 * d_);
  }
  // Returns the number of leaves with which a query may be compared on average.
  double most_scans() const { return n_ / 16 / 20 + (15 * k_ + 100) * (d_ > 16 ? 16 / d_ : 1); }

 private:
  double m_, n_, d_, k_;
};

}  // namespace spectralcls::detail
