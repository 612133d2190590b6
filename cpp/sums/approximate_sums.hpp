// Kernel sums within a stated tolerance, or radius-limited and exact, in less than quadratic time.
//
// Queries are taken a tile of space at a time. A tile either evaluates the pairs within a radius (all that a compact
// kernel has), or, for the Gaussian in at most three dimensions, goes through a grid patch (gauss_grid.hpp),
// whichever is predicted to be cheaper. Every Gaussian sum is checked afterwards against a bound of what was left
// out or rounded off; the few that fail are evaluated again within a growing radius until they pass.
#pragma once

#include <cstdint>

#include "base/matrix.hpp"
#include "base/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

struct ApproximateSums {
  MatrixView<double> queries, points;
  const double* weights = nullptr;  // row-major (n, n_columns), or nullptr for weight 1 and n_columns = 1
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, negative: left out; nullptr: one label
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  double bandwidth = 1;
  const std::int64_t* excluded = nullptr;  // (m,), row of `points` that a query leaves out, or -1; nullptr: none
  double rtol = 0, atol = 0;
  // What the alternative, the fused sums of all pairs, would be: in which precision, and how many passes over the
  // pairs.
  bool single_precision = false;
  double brute_passes = 1;

  // automatic: the cheaper of the two for each tile, if that is predicted to beat brute force at all; the others use
  // one way wherever it is possible, whatever it costs.
  enum class Strategy { automatic, pairs, grid };
  Strategy strategy = Strategy::automatic;

  enum class Outcome { done, brute_force_is_faster };

  // Fills `sums` (m, n_labels, n_columns) so that each differs from the exact sum by at most
  //   atol + rtol * sum over the points j, of all labels, of |W[j, c]| k(q_i, x_j)
  // apart from rounding in double; or says that evaluating all pairs is predicted to be faster.
  Outcome compute(double* sums, const Execution& execution) const;
};

}  // namespace spectralcls
