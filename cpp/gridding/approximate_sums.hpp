// Gaussian sums on a grid with a stated bound of their error, in one to three dimensions.
//
// Queries are taken a tile of space at a time. A tile goes through a grid patch (gauss_grid.hpp) if that is predicted
// to be faster than the exact sums; its sums are checked against a bound of what the grid leaves out. The exact sums
// answer everything else: tiles with few points, and sums that are so small that the bound does not hold.
#pragma once

#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

struct ApproximateSums {
  MatrixView<double> queries, points;
  const double* weights = nullptr;  // row-major (n, n_columns), or nullptr for weight 1 and n_columns = 1
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, negative: left out; nullptr: one label
  int n_labels = 1;
  double bandwidth = 1;
  const std::int64_t* excluded = nullptr;  // (m,), row of `points` that a query leaves out, or -1; nullptr: none
  double rtol = 0, atol = 0;
  // Whether the bound holds for the sum of each label; otherwise for all errors of a query and column together. Weights
  // are then not negative.
  bool each_label = false;
  // What the exact sums would take: in which precision, and how many passes over the pairs.
  bool single_precision = false;
  double exact_passes = 1;

  // Fills `sums` (m, n_labels, n_columns) and `settled` (m, n_labels). A settled sum differs from the exact one by at
  // most
  //   atol + rtol * sum over the points j, of all labels, of |W[j, c]| k(q_i, x_j),
  // all labels of a query together, or of the points of its label if `each_label`; apart from rounding in double. False
  // if exact sums are predicted to be as fast: then nothing is settled. pruning() may say never, or always: then the
  // grid is used wherever it is possible.
  bool compute(double* sums, std::uint8_t* settled, const Execution& execution) const;
};

}  // namespace spectralcls
