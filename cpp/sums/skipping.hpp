// Which terms a sum cannot see, and whether to look for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/skipping.hpp"
#include "sums/kernel_points.hpp"
#include "sums/kernel_sums.hpp"

namespace spectralcls::detail {

// How far the points of a label matter. A kernel falls off at least as fast as its decay 2^(-rate a) in the argument a.
// For a query let a0 be the smallest argument of the points met so far. Those beyond a0 + bits / rate add at most
//   sum |w_j| 2^(-rate a_j) <= 2^-bits (sum |w_j|) 2^(-rate a0),
// and what has been summed holds at least min |w_j| 2^(-rate a0). With bits = digits + 2 + log2(sum |w_j| / min |w_j|) all
// of them together are a quarter of a rounding of the sum of absolute terms, whatever their number, weights and signs.
// Within a tolerance a0 and the weights are those of all labels together, and bits = log2(sum / min) - log2(rtol).
// A logarithm of size L is rounded by L 2^-digits, which is a relative error of the sum: log2(L) bits fewer are seen.
template <class T>
class Reach {
 public:
  Reach(const KernelSums<T>& request, bool scaled, bool logarithms)
      : request_(request), scaled_(scaled), logarithms_(logarithms && request.tolerance() == 0) {}

  // Adds up the weights, without which there is no squared().
  void weigh() {
    const bool apart = request_.tolerance() == 0;
    std::vector<Weights> weights(apart ? static_cast<std::size_t>(request_.n_labels) : 1);
    const index_t per_point = !request_.weights ? 0 : (request_.weights_by_bandwidth ? request_.n_bandwidths() : 1) * request_.n_columns;
    for (index_t i = 0; i < request_.points.rows; ++i) {
      const std::int64_t label = request_.labels ? request_.labels[i] : 0;
      if (label >= 0) weights[apart ? static_cast<std::size_t>(label) : 0].add(request_.weights + i * per_point, per_point);
    }
    for (const Weights& of_label : weights) {
      bits_.push_back(of_label.excess() + (apart ? std::numeric_limits<T>::digits + 2 : -std::log2(request_.tolerance())));
      totals_.push_back(std::log2(std::max(of_label.total, 1.0)));
    }
  }

  // Scaled squared distance beyond which nothing matters in addition to a point with the argument `least`.
  double squared(int label, double lowest_rate, double least) const {
    const Decay decay = traits(request_.kernel).decay;
    if (decay == Decay::compact) return 1 / lowest_rate;
    // Values below the range of T are zero; with a scale, those so far below the largest.
    const double vanishing = (1 - std::numeric_limits<T>::min_exponent) / lowest_rate;
    const std::size_t weights = request_.tolerance() == 0 ? static_cast<std::size_t>(label) : 0;
    // The largest term is 2^(-rate a0), the sum at most their total weight times that.
    const double size = logarithms_ ? (lowest_rate * least - totals_[weights]) * ln2 : 0;
    const double bits = bits_[weights] - std::log2(std::clamp(size, 1.0, std::ldexp(1.0, std::numeric_limits<T>::digits)));
    double reach = least + std::min(bits / lowest_rate, vanishing);
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
  bool scaled_, logarithms_;
  std::vector<double> bits_, totals_;  // of each label, or of all; totals: of the weights, as logarithms
};

// Whether skipping is worth a trial, for which the weights are then known.
template <class T>
bool skipping_looks_good(const KernelSums<T>& request, Reach<T>& reach) {
  const index_t m = request.queries.rows, n = request.points.rows, d = request.points.cols;
  if (m == 0 || n == 0 || d == 0 || skipping() == Skipping::never) return false;
  const bool always = skipping() == Skipping::always;
  // What was built for an earlier call costs nothing; but exact sums do not depend on earlier calls.
  const bool built = request.tolerance() > 0 && request.packed && request.packed->has_skipping();
  reach.weigh();
  if (always || built) return true;
  constexpr double kernel = 18;  // operations of a kernel value
  const double largest = *std::max_element(request.bandwidths.begin(), request.bandwidths.end());
  return filter_looks_good(request.queries, request.points, largest, static_cast<double>(d) + kernel, [&](double scale, double least) {
    return reach.squared(0, rate<T>(request.kernel, scale, largest), argument(request.kernel, least));
  });
}

}  // namespace spectralcls::detail
