// Gaussian sums on a grid, with a bound on their error, in one to three dimensions.
//
// Queries are processed one tile of space at a time. A tile is summed on a grid patch (gauss_grid.hpp) if this is
// predicted to be faster than exact sums. A bound on the error of the grid is then compared with the tolerance. The
// caller must compute the other sums exactly: those of the remaining tiles, and those whose bound exceeds the
// tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "gridding/cell_tree.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/label_rule.hpp"

namespace spectralcls {

struct ApproximateSums {
  MatrixView<double> queries, points;
  const double* weights = nullptr;  // row-major (n, n_columns) for n points; nullptr: weight 1 and n_columns = 1
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, or negative if left out; nullptr: one label
  int n_labels = 1;
  double bandwidth = 1;
  // (m,) for m queries: the row of `points` that each query leaves out, -1 for none. nullptr: no query leaves out a
  // point.
  const std::int64_t* excluded = nullptr;
  double rtol = 0, atol = 0;
  // If true, the tolerance applies to the sum of each label, and weights must not be negative. Otherwise it applies to
  // the errors of all labels together.
  bool each_label = false;
  // The cost of exact sums is predicted from their precision and from how often they pass over the pairs.
  bool single_precision = false;
  double exact_passes = 1;

  // Fills `sums` (m, n_labels, n_columns), `settled` (m, n_labels), and `order` (m,), the rows of the queries in an
  // order in which successive queries lie close together. A settled sum differs from the exact sum, apart from rounding
  // in double, by at most
  //   atol + rtol * sum over all points j of |W[j, c]| k(q_i, x_j).
  // W are the weights and k is the kernel. This bounds the total error of all labels of a query. If `each_label`, the
  // error of each label has this bound, with the sum over the points of that label. Returns false if exact sums are
  // predicted to be as fast; then nothing is settled. set_pruning() may forbid the grid, or force it if it is possible.
  bool compute(double* sums, std::uint8_t* settled, std::int64_t* order, const Execution& execution) const;

  // Fills `found` (m,) with the labels that the rule would give from exact sums, and with `uncertain_label` for queries
  // that neither the grid nor the points near them can decide. Weights must not be negative, and no query may leave out
  // a point. `rtol` sets the accuracy of the grid. Returns false if exact sums are predicted to be as fast; then no
  // label is certain.
  bool decide(const LabelRule& rule, std::int64_t* found, const Execution& execution) const;

  // Returns whether a grid of this many axes is possible.
  static bool possible(index_t d) { return d <= max_cell_axes; }
  // Returns whether the sums of m queries and n points are worth a closer look: exact sums take longer than a grid of
  // the usual width takes for the rows alone.
  static bool may_pay(index_t m, index_t n, index_t d, bool single_precision);
};

// The numbers of a request as double: the original ones, or copies.
template <class T>
class GridNumbers {
 public:
  explicit GridNumbers(const KernelSums<T>& of)
      : of_(of),
        queries_(copy(of.queries.data, of.queries.rows * of.queries.cols)),
        points_(copy(of.points.data, of.points.rows * of.points.cols)),
        weights_(copy(of.weights, of.points.rows * of.n_columns)) {}

  // Returns the request for a grid, without a bandwidth and a tolerance.
  ApproximateSums request() const {
    ApproximateSums grid;
    grid.queries = {pointer(queries_, of_.queries.data), of_.queries.rows, of_.queries.cols};
    grid.points = {pointer(points_, of_.points.data), of_.points.rows, of_.points.cols};
    grid.weights = pointer(weights_, of_.weights);
    grid.n_columns = of_.n_columns;
    grid.labels = of_.labels;
    grid.n_labels = of_.n_labels;
    grid.excluded = of_.excluded;
    grid.single_precision = sizeof(T) == 4;
    return grid;
  }

 private:
  static std::vector<double> copy(const T* from, index_t n) {
    return sizeof(T) == 4 && from ? std::vector<double>(from, from + n) : std::vector<double>{};
  }
  static const double* pointer(const std::vector<double>& copied, const T* from) {
    if constexpr (sizeof(T) == 8) return from;
    else return from ? copied.data() : nullptr;
  }

  const KernelSums<T>& of_;
  std::vector<double> queries_, points_, weights_;
};

}  // namespace spectralcls
