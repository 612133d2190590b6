// Fused kernel sums: out[i, b, l, c] = sum over the points j of label l of W[j, c] k_b(q_i, x_j).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

template <class T>
class PackingCache;

template <class T>
struct KernelSums {
  MatrixView<T> queries, points;
  // Packings of `points` with these labels, kept for many calls. nullptr: the points are packed for this call.
  std::shared_ptr<const PackingCache<T>> cache;
  // Row-major (n, n_columns), or (n, b, n_columns) with separate weights for each bandwidth. nullptr: weight 1 and
  // n_columns = 1.
  const T* weights = nullptr;
  bool weights_by_bandwidth = false;
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, or negative if left out; nullptr: one label
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  std::vector<double> bandwidths;  // (b), or (b, n_labels) with separate bandwidths for each label
  bool bandwidths_by_label = false;
  // Groups 0 ... n_groups - 1 of queries and points. The sums of a query leave out the points of its own group, as in
  // cross-validation. Give both or neither.
  const std::int64_t* query_groups = nullptr;
  const std::int64_t* point_groups = nullptr;
  int n_groups = 1;
  // (m,), the row of `points` that each query leaves out, -1 for none; nullptr: no query leaves out a point.
  const std::int64_t* excluded = nullptr;

  // The sums of a query may be too small by `rtol` times the absolute sum over all labels. This error is divided among
  // the labels in proportion to their weights. 0: exact to rounding.
  double rtol = 0;

  index_t bandwidth_index(index_t b, std::int64_t label) const {
    return bandwidths_by_label ? b * n_labels + label : b;
  }
  index_t n_bandwidths() const { return length(bandwidths) / (bandwidths_by_label ? n_labels : 1); }

  // Several bandwidths with separate values for each label have no common scale, so their sums are exact.
  double tolerance() const { return bandwidths_by_label && n_bandwidths() > 1 ? 0 : rtol; }

  // Each function fills C-ordered arrays: `sums` and `logs` (m, b, l, c), `log_scale` (m, b, l). plain() computes the
  // sums, logs() their natural logarithms (-inf for an empty sum). scaled() computes sum = exp(log_scale) * sums, which
  // never underflows for a positive kernel and allows weights of any sign. Each returns whether it used `rtol`.
  bool plain(T* sums, const Execution& execution) const;
  bool logs(T* logs, const Execution& execution) const;
  bool scaled(T* log_scale, T* sums, const Execution& execution) const;
};

// Returns a cache of packings for many calls. Points, labels and weights are not copied and belong to the caller.
template <class T>
std::shared_ptr<const PackingCache<T>> pack_points(MatrixView<T> points, const std::int64_t* labels, int n_labels,
                                                   const T* weights, index_t n_columns, const Execution& execution);

extern template struct KernelSums<float>;
extern template struct KernelSums<double>;

}  // namespace spectralcls
