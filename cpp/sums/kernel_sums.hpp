// Fused kernel sums: out[i, b, l, c] = sum over the points j of label l of W[j, c] k_b(q_i, x_j).
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "base/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

template <class T>
struct KernelSums {
  MatrixView<T> queries, points;
  // Row-major (n, n_columns), or (n, b, n_columns) with weights of their own for each bandwidth; nullptr for weight 1
  // and n_columns = 1.
  const T* weights = nullptr;
  bool weights_by_bandwidth = false;
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, negative: left out; nullptr: one label
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  std::vector<double> bandwidths;
  // Groups 0 ... n_groups - 1 of queries and points; a query leaves out the points of its own group, which is what a
  // held-out fold does. Both or neither.
  const std::int64_t* query_groups = nullptr;
  const std::int64_t* point_groups = nullptr;
  int n_groups = 1;
  const std::int64_t* excluded = nullptr;  // (m,), row of `points` that a query leaves out, or -1; nullptr: none

  index_t n_results() const { return static_cast<index_t>(bandwidths.size()) * n_labels * n_columns; }

  // Each fills C-ordered arrays: `sums` and `logs` (m, b, l, c), `log_scale` (m, b, l).
  // plain: the sums. logs: their natural logarithms (-inf for an empty sum). scaled: sum = exp(log_scale) * sums,
  // which never underflows for the Gaussian and allows weights of any sign.
  void plain(T* sums, const Execution& execution) const;
  void logs(T* logs, const Execution& execution) const;
  void scaled(T* log_scale, T* sums, const Execution& execution) const;
};

extern template struct KernelSums<float>;
extern template struct KernelSums<double>;

}  // namespace spectralcls
