// Cuts a set of keys in two, with a given number of the smallest keys before the cut.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "neighbors/lanes.hpp"

namespace spectralcls::detail {

// The keys before the cut are those below the threshold and n_equal of the keys equal to the threshold.
template <class T>
struct Cut {
  T threshold;
  index_t n_equal;
};

// Returns the least and the largest of n keys, where n is a multiple of 16. NaNs are padding, not keys.
template <class T>
std::pair<T, T> least_and_largest(const T* keys, index_t n) {
  Vec<T> low = broadcast<T>(std::numeric_limits<T>::infinity()), high = -low;
  for (index_t i = 0; i < n; i += lanes<T>) {
    const Vec<T> key = load(keys + i);
    low = minimum<T>(key, low);
    high = maximum<T>(key, high);
  }
  return {smallest_lane<T>(low), -smallest_lane<T>(-high)};
}

template <class T>
class Selection {
 public:
  // Returns the cut with `rank` keys before it, 0 < rank < number of keys. n is a multiple of 16 and includes NaNs,
  // which are not keys.
  Cut<T> operator()(const T* keys, index_t n, index_t rank) {
    assert(n % sixteen == 0 && 0 < rank && rank < n);
    while (n > few) {
      const index_t left_out = narrow(keys, n, rank);
      if (left_out < 0) break;
      rank -= left_out;
    }
    return bisect(keys, n, rank);
  }

  // Returns the i-th of many places in 0 ... n - 1 that are spread evenly, without a regular pattern.
  static index_t place(index_t i, index_t n) {
    return static_cast<index_t>(
        (static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  static constexpr index_t few = 16384;             // bisection starts when at most this many keys are left
  static constexpr int n_sample = 256, slack = 24;  // `slack`: three standard deviations of the median's rank

  // Keeps only the keys between two keys of a sample, `low` and `high`, that probably enclose the threshold. Returns
  // the number of keys below `low`, or -1 on failure.
  index_t narrow(const T*& keys, index_t& n, index_t rank) {
    T sample[n_sample];
    for (int i = 0; i < n_sample; ++i) sample[i] = keys[place(i, n)];
    int size = static_cast<int>(std::remove_if(sample, sample + n_sample, [](T x) { return x != x; }) - sample);
    if (size < n_sample / 2) return -1;
    std::sort(sample, sample + size);
    const int about = static_cast<int>(static_cast<double>(rank) / static_cast<double>(n) * size);
    const Vec<T> low = broadcast<T>(sample[std::clamp(about - slack, 0, size - 1)]),
                 high = broadcast<T>(sample[std::clamp(about + slack, 0, size - 1)]);
    AlignedVector<T>& kept = kept_[keys == kept_[0].data()];
    kept.resize(n + sixteen);
    T* end = kept.data();
    index_t n_below = 0;
    for (index_t i = 0; i < n; i += sixteen) {
      unsigned below = 0, at_most = 0;
      for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
        const Vec<T> key = load(keys + i + v * lanes<T>);
        below |= less_bits<T>(key, low) << v * lanes<T>;
        at_most |= at_most_bits<T>(key, high) << v * lanes<T>;
      }
      n_below += __builtin_popcount(below);
      end = pack_chosen(end, keys + i, at_most & ~below);
    }
    const index_t n_kept = end - kept.data();
    if (rank <= n_below || rank >= n_below + n_kept || n_kept > n / 4 * 3) return -1;
    for (; (end - kept.data()) % sixteen; ++end) *end = std::numeric_limits<T>::quiet_NaN();
    keys = kept.data();
    n = end - kept.data();
    return n_below;
  }

  Cut<T> bisect(const T* keys, index_t n, index_t rank) {
    constexpr int most_steps = 40;  // of bisection; then select() takes over
    auto [low, high] = least_and_largest(keys, n);
    for (int step = 0; step < most_steps; ++step) {
      T middle = low / 2 + high / 2;
      const bool between = middle > low && middle < high;
      if (!between) middle = high;
      const auto [below, at_most] = count(keys, n, middle);
      if (below <= rank && rank <= at_most) return {middle, rank - below};
      if (!between) return {low, rank - count(keys, n, low).first};
      (at_most < rank ? low : high) = middle;
    }
    return select(keys, n, rank);
  }

  // Selects among keys that span too many orders of magnitude for bisection.
  Cut<T> select(const T* keys, index_t n, index_t rank) {
    AlignedVector<T>& copy = kept_[keys == kept_[0].data()];
    copy.assign(keys, keys + n);
    copy.erase(std::remove_if(copy.begin(), copy.end(), [](T x) { return x != x; }), copy.end());
    const auto wanted = copy.begin() + (rank - 1);
    std::nth_element(copy.begin(), wanted, copy.end());
    const T threshold = *wanted;
    return {threshold, rank - count(keys, n, threshold).first};
  }

  // Returns the number of keys < pivot and the number of keys <= pivot.
  static std::pair<index_t, index_t> count(const T* keys, index_t n, T pivot) {
    const Vec<T> bound = broadcast<T>(pivot);
    Bits<T> below = {}, at_most = {};
    for (index_t i = 0; i < n; i += lanes<T>) {
      const Vec<T> key = load(keys + i);
      below -= key < bound;
      at_most -= key <= bound;
    }
    std::pair<index_t, index_t> total;
    for (int lane = 0; lane < lanes<T>; ++lane) {
      total.first += below[lane];
      total.second += at_most[lane];
    }
    return total;
  }

  AlignedVector<T> kept_[2];
};

}  // namespace spectralcls::detail
