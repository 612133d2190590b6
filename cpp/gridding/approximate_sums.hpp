// Gaussian sums on a grid, with a bound of their error, in one to three dimensions.
//
// Queries are processed one tile of space at a time. A tile is summed on a grid patch (gauss_grid.hpp) if that is
// predicted to be faster than the exact sums. Its sums are then checked against a bound of the grid's error. Exact sums
// replace all others: those of tiles with few points, and sums too small for the bound.
#pragma once

#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/label_rule.hpp"

namespace spectralcls {

struct ApproximateSums {
  MatrixView<double> queries, points;
  const double* weights = nullptr;  // row-major (n, n_columns), or nullptr for weight 1 and n_columns = 1
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, or negative if left out; nullptr: one label
  int n_labels = 1;
  double bandwidth = 1;
  const std::int64_t* excluded =
      nullptr;  // (m,), row of `points` that a query leaves out, -1 for none; nullptr: none at all
  double rtol = 0, atol = 0;
  // If true, the bound holds for the sum of each label, and weights must not be negative. Otherwise it holds for the
  // errors of all labels together.
  bool each_label = false;
  // The precision of the exact sums, and the number of their passes over the pairs. They set the predicted cost.
  bool single_precision = false;
  double exact_passes = 1;

  // Fills `sums` (m, n_labels, n_columns) and `settled` (m, n_labels). A settled sum differs from the exact sum, apart
  // from rounding in double, by at most
  //   atol + rtol * sum over all points j of |W[j, c]| k(q_i, x_j).
  // The bound is for all labels of a query together. If `each_label`, it is for each label, with the sum over its
  // points. Returns false if exact sums are predicted to be as fast; then nothing is settled. set_pruning() may forbid
  // the grid, or force it where it is possible.
  bool compute(double* sums, std::uint8_t* settled, const Execution& execution) const;

  // Fills `found` (m,) with the labels that the rule gives to exact sums, and `uncertain_label` for queries that the
  // grid and the points near the query cannot decide. Weights must not be negative, and no point is left out. `rtol`
  // sets the accuracy of the grid. Returns false as compute() does; then no label is certain.
  bool decide(const LabelRule& rule, std::int64_t* found, const Execution& execution) const;

 private:
  bool possible() const;
};

}  // namespace spectralcls
