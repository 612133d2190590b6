#include "gridding/planned_labels.hpp"

#include <algorithm>
#include <vector>

#include "gridding/approximate_sums.hpp"

namespace spectralcls {
namespace {

// Relative errors allowed in sums on a grid, by the number of features. With one feature, a tighter tolerance costs
// nothing, and it decides the many queries near ties. With two and three features, tolerances of 2^-8 to 2^-12 differ
// by less than a tenth in time (eight overlapping classes of 1e5 points), although 2^-12 needs a wider stencil with
// three features.
constexpr double on_grid[] = {0, 0x1p-16, 0x1p-10, 0x1p-10};

template <class T>
bool labels_on_grid(const KernelSums<T>& r, const LabelRule& rule, std::int64_t* labels, const Execution& execution) {
  if (r.kernel != Kernel::gaussian || r.bandwidths_by_label ||
      !ApproximateSums::may_pay(r.queries.rows, r.points.rows, r.points.cols, sizeof(T) == 4))
    return false;
  const GridNumbers<T> numbers(r);
  ApproximateSums grid = numbers.request();
  grid.bandwidth = r.bandwidths[0];
  grid.rtol = on_grid[r.points.cols];
  return grid.decide(rule, labels, execution);
}

// The missing part of a label is at most its share of the total weight times the tolerance.
template <class T>
std::vector<double> missing_parts(const KernelSums<T>& r) {
  std::vector<double> missing(r.n_labels * r.n_columns), total(r.n_columns);
  for (index_t j = 0; j < r.points.rows; ++j) {
    const std::int64_t label = r.labels ? r.labels[j] : 0;
    for (index_t c = 0; label >= 0 && c < r.n_columns; ++c) {
      const double weight = r.weights ? r.weights[j * r.n_columns + c] : 1.0;
      missing[label * r.n_columns + c] += weight;
      total[c] += weight;
    }
  }
  for (index_t at = 0; at < length(missing); ++at) missing[at] *= r.rtol / total[at % r.n_columns];
  return missing;
}

}  // namespace

template <class T>
bool planned_labels(const KernelSums<T>& r, const LabelRule& rule, std::int64_t* labels, const Execution& execution) {
  const index_t m = r.queries.rows;
  if (labels_on_grid(r, rule, labels, execution)) return true;
  std::fill_n(labels, m, uncertain_label);
  std::vector<T> log_scale(m * r.n_labels), sums(m * r.n_labels * r.n_columns);
  if (!r.within_tolerance(log_scale.data(), sums.data(), execution)) return false;
  const std::vector<double> missing = missing_parts(r);
  certain_labels<T>({m, log_scale.data(), sums.data(), missing.data()}, rule, labels);
  return true;
}

template bool planned_labels(const KernelSums<float>&, const LabelRule&, std::int64_t*, const Execution&);
template bool planned_labels(const KernelSums<double>&, const LabelRule&, std::int64_t*, const Execution&);

}  // namespace spectralcls
