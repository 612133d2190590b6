// The radius beyond which terms cannot change a sum, and whether pruning by this radius may pay off.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "geometry/pruning.hpp"
#include "infrastructure/costs.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/packed_points_cache.hpp"

namespace spectralcls::detail {

// Up to this many features, the boxes of tiles decide alone: they are compact, and a coordinate of a pair costs as much
// as its distance. Sums by label over 1e5 points in eight clusters then take .45 to .48 of the time in one to three
// features (float32, AVX-512).
constexpr index_t boxes_suffice_to = 3;

// Returns a lower bound on log2(x), x >= 0, that is at most 0.09 too small: between powers of two the logarithm lies
// above its chord.
inline double log2_below(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<double>(bits) * 0x1p-52 - 1023;
}

// The radius beyond which the points of a label are negligible. A kernel falls off at least as fast as its decay
// 2^(-rate a) in the argument a, and every kernel but the singular one is at most its decay. Let w_j be the weights and
// a_j the arguments of the points. The absolute terms of a query add up to at least 2^-e, which is either the absolute
// value of a partial sum or min |w_j| 2^(-rate a0), where a0 is the smallest argument so far. Points with arguments
// beyond (e + bits) / rate add at most
//   sum |w_j| 2^(-rate a_j) <= 2^-bits (sum |w_j|) 2^-e.
// With bits = digits + 2 + log2(sum |w_j|), this is at most a quarter ulp of the sum of absolute terms, whatever the
// number of points, their weights and the signs. Within a tolerance, e and the weights are those of all labels
// together, and bits = log2(sum |w_j|) - log2(rtol). A logarithm of size L has a rounding error of L 2^-digits, which
// is a relative error of the sum, so log2(L) fewer bits suffice.
template <class T>
class PruningRadius {
 public:
  PruningRadius(const KernelSums<T>& request, bool scaled, bool logarithms)
      : request_(request), scaled_(scaled), logarithms_(logarithms && request.tolerance() == 0) {}

  // Adds up the weights. Must be called before squared() and exponent().
  void weigh() {
    if (!bits_.empty()) return;
    const bool apart = request_.tolerance() == 0;
    std::vector<Weights> weights(apart ? request_.n_labels : 1);
    const index_t per_point =
        !request_.weights ? 0 : (request_.weights_by_bandwidth ? request_.n_bandwidths() : 1) * request_.n_columns;
    for (index_t i = 0; i < request_.points.rows; ++i) {
      const std::int64_t label = request_.labels ? request_.labels[i] : 0;
      if (label >= 0) weights[apart ? label : 0].add(request_.weights + i * per_point, per_point);
    }
    for (const Weights& of_label : weights) {
      const double total = of_label.total > 0 ? std::log2(of_label.total) : 0;
      totals_.push_back(std::max(total, 0.0));
      bits_.push_back(total + (apart ? std::numeric_limits<T>::digits + 2 : -std::log2(request_.tolerance())));
      lightest_.push_back(of_label.total > 0 ? -std::log2(of_label.least) : 0);
    }
  }

  // Returns an e that holds if some point has the argument `least`, whatever its weight.
  double exponent(int label, double lowest_rate, double least) const {
    return lowest_rate * least + lightest_[set_of(label)];
  }
  // Returns whether kernel values are at most their decays, so that e may be taken from a sum.
  bool bounded() const { return traits(request_.kernel).at_zero == 1; }

  // Returns the scaled squared distance beyond which all terms of a query are negligible, given its e and the argument
  // `least` of its nearest point.
  double squared(int label, double lowest_rate, double least, double exponent) const {
    const Decay decay = traits(request_.kernel).decay;
    if (decay == Decay::compact) return 1 / lowest_rate;
    // Values below the range of T are zero. With a scale, the range is relative to the largest value.
    const double vanishing = (1 - std::numeric_limits<T>::min_exponent) / lowest_rate;
    const index_t weights = set_of(label);
    // The largest kernel value is taken to be 2^(-rate a0), so the sum is at most the total weight times this value.
    const double size = logarithms_ ? (lowest_rate * least - totals_[weights]) * ln2 : 0;
    const double bits =
        bits_[weights] - log2_below(std::clamp(size, 1.0, std::ldexp(1.0, std::numeric_limits<T>::digits)));
    double reach = std::min((exponent + bits) / lowest_rate, least + vanishing);
    if (!scaled_) reach = std::min(reach, vanishing);
    return decay == Decay::exponential ? reach * reach : reach;
  }

 private:
  struct Weights {
    double least = std::numeric_limits<double>::infinity(), total = 0;
    // Adds the weights of one point, in all columns. Without columns, its weight is one.
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
  };
  index_t set_of(int label) const { return request_.tolerance() == 0 ? label : 0; }

  const KernelSums<T>& request_;
  bool scaled_, logarithms_;
  // For each label, or for all together: the bits, log2 of the sum of absolute weights, and -log2 of the least one.
  std::vector<double> bits_, totals_, lightest_;
};

// Returns whether a trial of pruning may pay off.
template <class T>
bool pruning_may_pay(const KernelSums<T>& request, PruningRadius<T>& radius) {
  // Tiles packed by an earlier call cost nothing. Exact sums must not depend on earlier calls, so only the sample
  // decides for them.
  if (request.tolerance() > 0 && request.cache && request.cache->has_pruning()) return true;
  // In few features, pairs are cheap, and boxes of tiles already prune compact kernels without another packing: pruning
  // starts to pay off at more queries. (For 12 000 points, packing takes as long as the sums of 1500 queries.)
  constexpr index_t many_queries = 8192;
  const bool compact = traits(request.kernel).decay == Decay::compact;
  if (request.points.cols <= boxes_suffice_to && (compact || request.queries.rows < many_queries)) return false;
  const double largest = *std::max_element(request.bandwidths.begin(), request.bandwidths.end());
  const SeparateLabels apart =
      request.tolerance() > 0 ? SeparateLabels{} : SeparateLabels{request.labels, request.n_labels};
  const double pair_cost = static_cast<double>(request.points.cols) + pruning_costs.kernel;
  return filter_may_pay(
      request.queries, request.points, apart, request.lengths(), pair_cost, [&](double scale, double least) {
        radius.weigh();
        const double lowest_rate = rate<T>(request.kernel, scale, largest), nearest = argument(request.kernel, least);
        return radius.squared(0, lowest_rate, nearest, radius.exponent(0, lowest_rate, nearest));
      });
}

}  // namespace spectralcls::detail
