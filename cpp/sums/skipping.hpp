// Which terms a sum cannot see, and whether it pays to look for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "base/principal_axes.hpp"
#include "sums/kernel_sums.hpp"

namespace spectralcls::detail {

// How far the points of a label matter. A kernel falls off at least as fast as its decay 2^(-rate a) in the argument a.
// For a query let a0 be the smallest argument of the points met so far. Those beyond a0 + bits / rate add at most
//   sum |w_j| 2^(-rate a_j) <= 2^-bits (sum |w_j|) 2^(-rate a0),
// and what has been summed holds at least min |w_j| 2^(-rate a0). With bits = digits + 2 + log2(sum |w_j| / min |w_j|) all
// of them together are a quarter of a rounding of the sum of absolute terms, whatever their number, weights and signs.
// Within a tolerance a0 and the weights are those of all labels together, and bits = log2(sum / min) - log2(rtol).
template <class T>
class Reach {
 public:
  Reach(const KernelSums<T>& request, bool scaled) : request_(request), scaled_(scaled) {}

  // Adds up the weights, without which there is no squared().
  void weigh() {
    const bool apart = request_.rtol == 0;
    std::vector<Weights> weights(apart ? static_cast<std::size_t>(request_.n_labels) : 1);
    const index_t per_point = !request_.weights ? 0 : (request_.weights_by_bandwidth ? request_.n_bandwidths() : 1) * request_.n_columns;
    for (index_t i = 0; i < request_.points.rows; ++i) {
      const std::int64_t label = request_.labels ? request_.labels[i] : 0;
      if (label >= 0) weights[apart ? static_cast<std::size_t>(label) : 0].add(request_.weights + i * per_point, per_point);
    }
    for (const Weights& of_label : weights)
      bits_.push_back(of_label.excess() + (apart ? std::numeric_limits<T>::digits + 2 : -std::log2(request_.rtol)));
  }

  // Squared distance in `unit`s beyond which nothing matters beside a point with the argument `least`.
  double squared(int label, double lowest_rate, double least) const {
    const Decay decay = traits(request_.kernel).decay;
    if (decay == Decay::compact) return 1 / lowest_rate;
    // Values below the range of T are zero; with a scale, those so far below the largest.
    const double vanishing = (1 - std::numeric_limits<T>::min_exponent) / lowest_rate;
    double reach = least + std::min(bits_[request_.rtol == 0 ? static_cast<std::size_t>(label) : 0] / lowest_rate, vanishing);
    if (!scaled_) reach = std::min(reach, vanishing);
    return decay == Decay::exponential ? reach * reach : reach;
  }

 private:
  struct Weights {
    double least = std::numeric_limits<double>::infinity(), total = 0;
    // Of one point, in all columns; without weights it is one.
    void add(const T* of_point, index_t n) {
      double largest = n == 0, smallest = n == 0 ? 1 : std::numeric_limits<double>::infinity();
      for (index_t c = 0; c < n; ++c) {
        const double weight = std::abs(static_cast<double>(of_point[c]));
        largest = std::max(largest, weight);
        smallest = std::min(smallest, weight);
      }
      total += largest;
      least = std::min(least, smallest);
    }
    double excess() const { return total > 0 ? std::log2(total / least) : 0; }
  };

  const KernelSums<T>& request_;
  bool scaled_;
  std::vector<double> bits_;  // of each label, or of all
};

// SPECTRALCLS_SKIPPING: "always" or "never", for tests and measurements; otherwise samples decide.
enum class Skipping { sampled, always, never };
inline Skipping skipping() {
  const char* value = std::getenv("SPECTRALCLS_SKIPPING");
  if (value && std::strcmp(value, "always") == 0) return Skipping::always;
  if (value && std::strcmp(value, "never") == 0) return Skipping::never;
  return Skipping::sampled;
}

// Whether skipping is worth a trial, for which the weights are then known: of some pairs few are within reach in most of their principal coordinates. This
// sorts out noise before anything has been built.
template <class T>
bool skipping_looks_good(const KernelSums<T>& request, Reach<T>& reach) {
  constexpr index_t from_queries = 1024, from_points = 2048, from_features = 4, n_queries = 24, n_points = 768;
  constexpr double build_operations = 12000;  // of a point, in multiply-adds on single numbers
  const index_t m = request.queries.rows, n = request.points.rows, d = request.points.cols;
  if (m == 0 || n == 0 || d == 0 || skipping() == Skipping::never) return false;
  const bool always = skipping() == Skipping::always;
  const double building = build_operations / (static_cast<double>(m) * static_cast<double>(d + 16));
  if (!always && (m < from_queries || n < from_points || d < from_features || building > 0.03)) return false;
  reach.weigh();
  if (always) return true;

  std::vector<T> some;
  auto take = [&](MatrixView<T> all, index_t count) {
    for (index_t i = 0; i < count; ++i) some.insert(some.end(), all.row(i * all.rows / count), all.row(i * all.rows / count) + d);
  };
  take(request.queries, n_queries);
  take(request.points, std::min(n, n_points));
  const MatrixView<T> sample{some.data(), static_cast<index_t>(some.size()) / d, d};
  const Geometry geometry = Geometry::of(sample, *std::max_element(request.bandwidths.begin(), request.bandwidths.end()), Execution{});
  double lowest_rate = std::numeric_limits<double>::infinity();
  for (const double h : request.bandwidths) lowest_rate = std::min(lowest_rate, rate<T>(request.kernel, geometry.unit, h));
  const PrincipalAxes axes = PrincipalAxes::of(sample, geometry, std::min<index_t>(31, (3 * d + 3) / 4));
  const AlignedVector<float> coordinates = axes.coordinates(sample, geometry, Execution{});
  const index_t width = axes.n_coordinates();
  index_t within = 0;
  std::vector<double> partial(static_cast<std::size_t>(sample.rows));
  for (index_t i = 0; i < n_queries; ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (index_t j = n_queries; j < sample.rows; ++j) {
      double part = 0, whole = 0;
      for (index_t k = 0; k < width; ++k) {
        const double gap = coordinates[static_cast<std::size_t>(i * width + k)] - coordinates[static_cast<std::size_t>(j * width + k)];
        part += gap * gap;
      }
      for (index_t k = 0; k < d; ++k) {
        const double gap = (static_cast<double>(sample.row(i)[k]) - static_cast<double>(sample.row(j)[k])) / geometry.unit;
        whole += gap * gap;
      }
      partial[static_cast<std::size_t>(j)] = part;
      if (whole > 0) least = std::min(least, whole);  // perhaps the query itself
    }
    const double squared = reach.squared(0, lowest_rate, std::isfinite(least) ? argument(request.kernel, least) : 0.0);
    for (index_t j = n_queries; j < sample.rows; ++j) within += partial[static_cast<std::size_t>(j)] < squared;
  }
  const double share = static_cast<double>(within) / static_cast<double>(n_queries * (sample.rows - n_queries));
  return share < 0.25;
}

}  // namespace spectralcls::detail
