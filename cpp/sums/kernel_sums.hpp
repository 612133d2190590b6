// Fused kernel sums. For query q_i, bandwidth b, label l and column c of the weights W,
//   out[i, b, l, c] = sum over the points x_j of label l of W[j, c] k_b(q_i, x_j).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/geometry.hpp"
#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

template <class T>
class PackedPointsCache;

// The form of computed sums: the sums; their natural logarithms, -inf for an empty sum; or a scale and sums that are to
// be multiplied by exp(log_scale). The latter never underflow for a positive kernel, and allow weights of any sign.
enum class Form { plain, logs, scaled };

template <class T>
struct KernelSums {
  MatrixView<T> queries, points;
  // `points` with these labels, packed for many calls. nullptr: the points are packed for this call.
  std::shared_ptr<const PackedPointsCache<T>> cache;
  // Row-major (n, n_columns) for n points, or (n, n_bandwidths, n_columns) with separate weights for each bandwidth.
  // nullptr: weight 1 and n_columns = 1.
  const T* weights = nullptr;
  bool weights_by_bandwidth = false;
  index_t n_columns = 1;
  const std::int64_t* labels = nullptr;  // (n,), 0 ... n_labels - 1, or negative if left out; nullptr: one label
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  std::vector<double> bandwidths;  // (n_bandwidths,), or (n_bandwidths, n_labels) with bandwidths_by_label
  bool bandwidths_by_label = false;
  // Groups 0 ... n_groups - 1 of queries and points. The sums of a query leave out the points of its own group, as in
  // cross-validation. Give both or neither.
  const std::int64_t* query_groups = nullptr;
  const std::int64_t* point_groups = nullptr;
  int n_groups = 1;
  // (m,) for m queries: the row of `points` that each query leaves out, -1 for none. nullptr: no query leaves out a
  // point.
  const std::int64_t* excluded = nullptr;

  // Whether successive queries already lie close together. Otherwise they are sorted if pairs may be pruned.
  bool in_order = false;

  // The sums of a query may be too small by `rtol` times the sum of the absolute terms of all labels. This error is
  // divided among the labels in proportion to their weights. 0: exact to rounding. planned_sums() allows an error of
  // `atol`, too, and uses no grid if `all_pairs`.
  double rtol = 0, atol = 0;
  bool all_pairs = false;

  index_t bandwidth_index(index_t b, std::int64_t label) const {
    return bandwidths_by_label ? b * n_labels + label : b;
  }
  index_t n_bandwidths() const { return length(bandwidths) / (bandwidths_by_label ? n_labels : 1); }
  Lengths lengths() const {
    const auto [least, largest] = std::minmax_element(bandwidths.begin(), bandwidths.end());
    return {*least, *largest};
  }

  // Several bandwidths with separate values for each label have no common scale, so `rtol` is ignored for them.
  double tolerance() const { return bandwidths_by_label && n_bandwidths() > 1 ? 0 : rtol; }

  // Fills C-ordered arrays: `sums` (m, n_bandwidths, n_labels, n_columns) and, only for scaled sums, `log_scale`
  // (m, n_bandwidths, n_labels).
  void compute(Form form, T* log_scale, T* sums, const Execution& execution) const;
  // Computes scaled sums if `rtol` makes that faster. Returns false otherwise.
  bool within_tolerance(T* log_scale, T* sums, const Execution& execution) const;
};

// Returns points that the first call that needs them packs for many calls. The points, labels and weights are not
// copied and must outlive it.
template <class T>
std::shared_ptr<const PackedPointsCache<T>> pack_points(MatrixView<T> points, const std::int64_t* labels, int n_labels,
                                                        const T* weights, index_t n_columns);

}  // namespace spectralcls
