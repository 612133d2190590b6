#include "gridding/planned_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gridding/approximate_sums.hpp"
#include "gridding/cell_tree.hpp"

namespace spectralcls {
namespace {

using Indices = std::vector<index_t>;
constexpr int all_labels = -1;

// Relative error at which the sum of a label on the grid replaces the exact sum. Together with the rounding of the
// grid's arithmetic it is less than half of the error stated in docs/guide/numerics.md.
template <class T>
constexpr double as_exact = sizeof(T) == 4 ? 4e-6 : 4e-13;

template <class T>
class PlannedSums {
 public:
  PlannedSums(const KernelSums<T>& request, Form form, T* log_scale, T* sums, const Execution& execution)
      : request_(request), form_(form), log_scale_(log_scale), sums_(sums), execution_(execution) {}

  void run() const {
    Indices bandwidths(request_.n_bandwidths());
    std::iota(bandwidths.begin(), bandwidths.end(), index_t{0});
    if (grid_may_pay()) bandwidths = sum_on_grid(bandwidths);
    sum_pairs(nullptr, bandwidths, all_labels);
  }

 private:
  // Queries whose sums, over the points of a label or of all labels, are still missing.
  struct Missing {
    int label;
    Indices rows;
  };

  // Returns whether the grid can compute the sums and is worth a closer look.
  bool grid_may_pay() const {
    const auto& r = request_;
    // Requests with groups are summed over all pairs: one pass computes the distances for all folds and bandwidths. For
    // 20 000 points, five folds and 16 bandwidths, the grid took 4 times as long with one feature and equally long with
    // two.
    if (r.all_pairs || r.kernel != Kernel::gaussian || r.query_groups || r.weights_by_bandwidth) return false;
    if (!ApproximateSums::may_pay(r.queries.rows, r.points.rows, r.points.cols, sizeof(T) == 4)) return false;
    // Only plain sums within a tolerance may have terms of either sign.
    return (within() && form_ == Form::plain) || !r.weights ||
           std::all_of(r.weights, r.weights + r.points.rows * r.n_columns, [](T weight) { return weight >= 0; });
  }
  bool within() const { return request_.rtol > 0 || request_.atol > 0; }

  // Computes the sums at those of the bandwidths for which the grid pays off, and returns the other bandwidths.
  Indices sum_on_grid(const Indices& bandwidths) const {
    const auto& r = request_;
    const index_t m = r.queries.rows;
    const GridNumbers<T> numbers(r);
    ApproximateSums grid = numbers.request();
    grid.each_label = !within();
    grid.rtol = within() ? r.rtol : as_exact<T>;
    const int n_parts = r.bandwidths_by_label ? r.n_labels : 1;  // each with a bandwidth
    grid.atol = r.atol / n_parts;
    grid.n_labels = r.n_labels / n_parts;
    // Exact sums at all bandwidths share distances, so another bandwidth costs a fraction of a pass.
    constexpr double more = 0.3;
    const double passes =
        (1 + more * static_cast<double>(length(bandwidths) - 1)) / static_cast<double>(length(bandwidths));
    std::vector<double> sums(m * grid.n_labels * r.n_columns);
    std::vector<std::uint8_t> settled(m * grid.n_labels);
    std::vector<std::int64_t> order(m);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    Indices others;
    for (const index_t b : bandwidths) {
      std::vector<Missing> missing;
      bool used = false;
      for (int part = 0; part < n_parts; ++part) {
        const std::vector<std::int64_t> own = r.bandwidths_by_label ? only(part) : std::vector<std::int64_t>{};
        grid.labels = r.bandwidths_by_label ? own.data() : r.labels;
        grid.bandwidth = r.bandwidths[r.bandwidth_index(b, part)];
        grid.exact_passes = passes * share_of(grid.labels);
        used |= grid.compute(sums.data(), settled.data(), order.data(), execution_);
        take(sums, settled, order, b, part, grid.n_labels, missing);
      }
      if (!used) others.push_back(b);
      else
        for (const Missing& one : missing) sum_pairs(&one.rows, {b}, one.label);
    }
    return others;
  }

  // Returns the fraction of the points that have one of the labels.
  double share_of(const std::int64_t* labels) const {
    const index_t n = request_.points.rows;
    if (!labels) return 1;
    const auto left_out = std::count_if(labels, labels + n, [](std::int64_t label) { return label < 0; });
    return std::max(1 - static_cast<double>(left_out) / static_cast<double>(n), 1e-9);
  }

  // Writes the settled sums of n_labels labels from `first` on, at a bandwidth, and lists the others.
  void take(const std::vector<double>& sums, const std::vector<std::uint8_t>& settled,
            const std::vector<std::int64_t>& order, index_t b, int first, int n_labels,
            std::vector<Missing>& missing) const {
    const bool together = within() || request_.n_labels == 1;  // all labels of a query are settled, or none
    for (int l = 0; l < n_labels; ++l) {
      Indices rows;
      for (const std::int64_t row : order)
        if (settled[row * n_labels + l])
          write(row, b, first + l, sums.data() + (row * n_labels + l) * request_.n_columns);
        else rows.push_back(row);
      if (rows.empty() || (together && l > 0)) continue;
      missing.push_back({together && n_labels == request_.n_labels ? all_labels : first + l, std::move(rows)});
    }
  }

  void write(index_t row, index_t b, int label, const double* sum) const {
    const index_t n_columns = request_.n_columns,
                  cell = (row * request_.n_bandwidths() + b) * request_.n_labels + label;
    T* to = sums_ + cell * n_columns;
    if (form_ == Form::plain) {
      std::transform(sum, sum + n_columns, to, [](double x) { return static_cast<T>(x); });
      return;
    }
    // Subtracting an excluded point leaves a rounding error of either sign. Each label has its own scale, so that float
    // does not underflow.
    double scale = 1;
    if (form_ == Form::scaled) {
      const double largest = *std::max_element(sum, sum + n_columns);
      if (largest > 0) scale = largest;
      log_scale_[cell] = static_cast<T>(std::log(scale));
    }
    for (index_t c = 0; c < n_columns; ++c) {
      const double positive = std::max(sum[c], 0.0);
      to[c] = static_cast<T>(form_ == Form::logs ? std::log(positive) : positive / scale);
    }
  }

  // Returns labels of the points: 0 for those of a label, -1 for the others.
  std::vector<std::int64_t> only(int label) const {
    std::vector<std::int64_t> own(request_.points.rows);
    for (index_t j = 0; j < length(own); ++j) own[j] = request_.labels[j] == label ? 0 : -1;
    return own;
  }

  // Computes the sums of some queries, or of all, over the pairs with the points of a label or of all labels.
  void sum_pairs(const Indices* rows, Indices bandwidths, int label) const {
    // Points are packed for bandwidths that differ by at most this many powers of two.
    constexpr int range = 30;
    while (!bandwidths.empty()) {
      auto exponent = [&](index_t b) {
        double largest = 0;
        for (int l = 0; l < (request_.bandwidths_by_label ? request_.n_labels : 1); ++l)
          largest = std::max(largest, request_.bandwidths[request_.bandwidth_index(b, l)]);
        return std::ilogb(largest);
      };
      int least = exponent(bandwidths[0]);
      for (const index_t b : bandwidths) least = std::min(least, exponent(b));
      const auto others = std::stable_partition(bandwidths.begin(), bandwidths.end(),
                                                [&](index_t b) { return exponent(b) < least + range; });
      sum_similar(rows, {bandwidths.begin(), others}, label);
      bandwidths.erase(bandwidths.begin(), others);
    }
  }

  void sum_similar(const Indices* rows, const Indices& bandwidths, int label) const {
    KernelSums<T> part = request_;
    if (ApproximateSums::possible(part.points.cols)) part.rtol = 0;
    if (!rows && label == all_labels && length(bandwidths) == request_.n_bandwidths()) {
      part.compute(form_, log_scale_, sums_, execution_);
      return;
    }
    const index_t d = part.queries.cols, n_labels = label == all_labels ? part.n_labels : 1,
                  n_bandwidths = length(bandwidths);
    std::vector<T> queries, weights;
    std::vector<std::int64_t> excluded, labels;
    if (rows) {
      for (const index_t row : *rows) {
        queries.insert(queries.end(), part.queries.row(row), part.queries.row(row) + d);
        if (part.excluded) excluded.push_back(part.excluded[row]);
      }
      part.queries = {queries.data(), length(*rows), d};
      if (part.excluded) part.excluded = excluded.data();
      part.in_order = true;
    }
    if (label != all_labels) {
      labels = only(label);
      part.labels = labels.data();
      part.n_labels = 1;
      part.cache = nullptr;
      part.bandwidths_by_label = false;
    }
    part.bandwidths.clear();
    for (const index_t b : bandwidths)
      for (index_t l = 0; l < (part.bandwidths_by_label ? n_labels : 1); ++l)
        part.bandwidths.push_back(request_.bandwidths[request_.bandwidth_index(b, label == all_labels ? l : label)]);
    if (part.weights_by_bandwidth) {
      for (index_t j = 0; j < part.points.rows; ++j)
        for (const index_t b : bandwidths) {
          const T* from = request_.weights + (j * request_.n_bandwidths() + b) * part.n_columns;
          weights.insert(weights.end(), from, from + part.n_columns);
        }
      part.weights = weights.data();
    }
    const index_t m = part.queries.rows, n_cells = m * n_bandwidths * n_labels;
    std::vector<T> sums(n_cells * part.n_columns), log_scale(form_ == Form::scaled ? n_cells : 0);
    part.compute(form_, log_scale.data(), sums.data(), execution_);
    index_t from = 0;
    for (index_t i = 0; i < m; ++i)
      for (const index_t b : bandwidths)
        for (index_t l = 0; l < n_labels; ++l, ++from) {
          const index_t row = rows ? (*rows)[i] : i;
          const index_t to =
              (row * request_.n_bandwidths() + b) * request_.n_labels + (label == all_labels ? l : label);
          if (form_ == Form::scaled) log_scale_[to] = log_scale[from];
          std::copy_n(sums.data() + from * part.n_columns, part.n_columns, sums_ + to * part.n_columns);
        }
  }

  const KernelSums<T>& request_;
  const Form form_;
  T *log_scale_, *sums_;
  const Execution& execution_;
};

}  // namespace

template <class T>
void planned_sums(const KernelSums<T>& request, Form form, T* log_scale, T* sums, const Execution& execution) {
  PlannedSums<T>(request, form, log_scale, sums, execution).run();
}

template void planned_sums(const KernelSums<float>&, Form, float*, float*, const Execution&);
template void planned_sums(const KernelSums<double>&, Form, double*, double*, const Execution&);

}  // namespace spectralcls
