// Ritz pairs of a search space: which are wanted, whether they have converged, and when to recompute them.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "krylov/dense.hpp"

namespace spectralcls::detail {

// The eigenpairs of the projected operator in descending order, and the residuals of the first `count`.
struct RitzPairs {
  Eigen::VectorXd values, residuals;
  Matrix vectors;

  RitzPairs() = default;
  // `remainder` is the Gram matrix of the last product's part outside the search space.
  RitzPairs(const Matrix& projection, const Matrix& remainder, index_t count) {
    const SymmetricEigenpairs ascending = symmetric_eigenpairs(projection);
    values = ascending.values.reverse();
    vectors = ascending.vectors.rowwise().reverse();
    assert(0 < count && count <= values.size() && remainder.rows() <= values.size());
    residuals.resize(count);
    for (index_t j = 0; j < count; ++j) {
      const Eigen::VectorXd tail = vectors.col(j).tail(remainder.rows());
      residuals(j) = std::sqrt(std::max(tail.dot(remainder * tail), 0.0));
    }
  }
  double largest() const { return std::max(std::abs(values(0)), std::abs(values(values.size() - 1))); }
};

// Decides which Ritz pairs are wanted and whether they have converged. `locked` are the values found by earlier
// searches, in descending order.
class Convergence {
 public:
  Convergence(index_t pairs, double tolerance, double eps) : pairs_(pairs), tolerance_(tolerance), eps_(eps) {}

  double allowed(double value) const { return std::max(tolerance_ * std::abs(value), 10 * eps_ * norm); }

  // Returns the number of wanted Ritz pairs. In the first search, these are the first `pairs_`. In later searches,
  // these are the pairs that displace locked values from the `pairs_` largest.
  index_t wanted(const RitzPairs& ritz, const std::vector<double>& locked) const {
    if (locked.empty()) return pairs_;
    const index_t available = std::min(pairs_, ritz.values.size());
    index_t count = 0;
    while (count < available) {
      const double rival = locked[pairs_ - 1 - count];
      if (ritz.values(count) <= rival + 2 * allowed(rival)) break;
      ++count;
    }
    return count;
  }

  // Returns the logarithm of the factor by which the residuals of the first `count` pairs must still fall.
  double excess(const RitzPairs& ritz, index_t count) const {
    double excess = 0;
    for (index_t j = 0; j < std::min(count, ritz.residuals.size()); ++j)
      excess = std::max(excess, std::log(ritz.residuals(j) / allowed(ritz.values(j))));
    return excess;
  }

  // Returns whether all wanted pairs have converged. After vectors were locked, the next pair must also meet a coarse
  // tolerance, which shows that no larger value is hidden.
  bool settled(const RitzPairs& ritz, const std::vector<double>& locked) const {
    const index_t count = wanted(ritz, locked);
    if (ritz.values.size() < count) return false;
    for (index_t j = 0; j < count; ++j)
      if (ritz.residuals(j) > allowed(ritz.values(j))) return false;
    if (locked.empty() || count == pairs_ || count >= ritz.residuals.size()) return true;
    return ritz.residuals(count) <= std::max(allowed(ritz.values(count)), hidden_tolerance * norm);
  }

  // Returns the size of the largest cluster among the first `count` values. The tolerance cannot separate neighbors
  // within a cluster.
  index_t largest_cluster(const RitzPairs& ritz, index_t count) const {
    index_t largest = 1, first = 0;
    for (index_t j = 1; j < count; ++j) {
      if (ritz.values(j - 1) - ritz.values(j) > 2 * allowed(ritz.values(j))) first = j;
      largest = std::max(largest, j - first + 1);
    }
    return largest;
  }

  double norm = 0;  // a lower bound on the operator's norm

 private:
  // Residual, relative to the norm, at which the largest value of the complement is accurate enough.
  static constexpr double hidden_tolerance = 1e-3;

  index_t pairs_;
  double tolerance_, eps_;
};

// Decides when to solve the projected problem, which costs O(size^3). An eighth of the space must be new. The space
// must also have grown by half the number of columns that convergence would need if residuals kept falling at the last
// rate. Half is enough, because residuals fall faster and faster.
class Schedule {
 public:
  bool due(index_t size) const { return 8 * (size - solved_) >= size && size >= expected_; }
  void solved(index_t size, double excess) {
    const double fallen = excess_ - excess, growth = static_cast<double>(size - solved_);
    const double needed = fallen > 0 && growth > 0 ? excess / fallen * growth : 0.0;
    expected_ = size + static_cast<index_t>(std::min(needed, static_cast<double>(size)) / 2);
    excess_ = excess;
    solved_ = size;
  }
  void restart(index_t size) { solved_ = expected_ = size; }

 private:
  index_t solved_ = 0;    // columns of the space at the last solution
  index_t expected_ = 0;  // least number of columns for the next solution
  double excess_ = std::numeric_limits<double>::infinity();
};

}  // namespace spectralcls::detail
