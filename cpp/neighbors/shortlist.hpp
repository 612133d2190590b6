// For each of 16 queries, the points that may be among the k nearest, judged by rounded squared distances.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "neighbors/lanes.hpp"

namespace spectralcls::detail {

// limit() returns a safe limit: if k points have rounded squared distances up to `squared`, no point with a rounded
// squared distance beyond the limit is among the k nearest. A rounded squared distance over d coordinates has a
// relative error of up to (d + 2) / 2 epsilons. If T is double, the squared distances that count as exact have such
// errors too.
template <class T>
struct Rounding {
  T factor, least;
  explicit Rounding(index_t d)
      : factor(1 + static_cast<T>(2 * d + 16) * std::numeric_limits<T>::epsilon()),
        least(static_cast<T>(d) * std::numeric_limits<T>::min()) {}
  T limit(T squared) const { return squared * factor + least; }
};

template <class T>
class Shortlists {
 public:
  Shortlists(index_t k, index_t d)
      : k_(k),
        step_(std::max<index_t>(sixteen, k / 2 / sixteen * sixteen)),
        capacity_((k + sixteen / 2 + sixteen - 1) / sixteen * sixteen + step_ + sixteen),
        rounding_(d) {
    squared_.resize(sixteen * capacity_ + sixteen);
    places_.resize(squared_.size());
  }

  // Empties the lists of the first n queries, and closes the other lists.
  void clear(int n) {
    for (int r = 0; r < sixteen; ++r) {
      limits_[r] = r < n ? std::numeric_limits<T>::infinity() : nothing;
      sizes_[r] = 0;
      due_[r] = k_;
    }
  }
  // Closes the list of query r: no further point is within its limit.
  void close(int r) { limits_[r] = nothing; }

  // For each query, the squared distance beyond which points cannot be neighbors.
  const T* limits() const { return limits_; }
  index_t size(int r) const { return sizes_[r]; }
  const std::int32_t* places(int r) const { return places_.data() + r * capacity_; }

  // Adds to the list of query r those of the 16 points from `place` on whose bits are set. Call narrow() afterwards if
  // is_due().
  SPECTRALCLS_INLINE void add(int r, const T* squared, std::int32_t place, unsigned bits) {
    assert(sizes_[r] + sixteen <= capacity_);
    const index_t at = r * capacity_ + sizes_[r];
    pack_chosen(squared_.data() + at, squared, bits);
    pack_places(places_.data() + at, place, bits);
    sizes_[r] += __builtin_popcount(bits);
  }
  bool is_due(int r) const { return sizes_[r] >= due_[r]; }

  // Lowers the limit of query r and drops the points beyond it. Returns false if so many points tie with the k-th that
  // 16 more may not fit.
  bool narrow(int r) {
    T* squared = squared_.data() + r * capacity_;
    std::int32_t* places = places_.data() + r * capacity_;
    const index_t n = sizes_[r];
    for (index_t i = n; i % sixteen; ++i) squared[i] = std::numeric_limits<T>::quiet_NaN();
    const T limit = rounding_.limit(kth(squared, n));
    index_t kept = 0;
    for (index_t i = 0; i < n; i += sixteen) {
      unsigned bits = 0;
      for (int v = 0; v < vectors_of_sixteen<T>; ++v)
        bits |= at_most_bits<T>(load_unaligned(squared + i + v * lanes<T>), broadcast<T>(limit)) << v * lanes<T>;
      pack_chosen(squared + kept, squared + i, bits);
      kept = pack_chosen(places + kept, places + i, bits) - places;
    }
    limits_[r] = std::min(limits_[r], limit);
    sizes_[r] = kept;
    due_[r] = kept + step_;
    return due_[r] <= capacity_ - sixteen;
  }

 private:
  static constexpr T nothing = -1;

  // Returns an upper bound on the k-th smallest of n squared distances. Apart from near ties, at most k + k / 8 squared
  // distances are within the bound.
  T kth(const T* squared, index_t n) const {
    constexpr int most_steps = 40;  // of bisection; afterwards `high` is still an upper bound
    const index_t most = k_ + k_ / 8;
    Vec<T> least = broadcast<T>(std::numeric_limits<T>::infinity()), largest = -least;
    for (index_t i = 0; i < n; i += lanes<T>) {
      const Vec<T> v = load_unaligned(squared + i);
      least = minimum<T>(v, least);
      largest = maximum<T>(v, largest);
    }
    T high = -smallest_lane<T>(-largest);
    if (n <= most) return high;
    T low = smallest_lane<T>(least);
    if (k_ == 1) return low;
    for (int step = 0; step < most_steps; ++step) {
      const T middle = (low + high) / 2;
      if (!(middle > low && middle < high)) break;
      index_t count = 0;
      for (index_t i = 0; i < n; i += lanes<T>)
        count += __builtin_popcount(at_most_bits<T>(load_unaligned(squared + i), broadcast<T>(middle)));
      if (count < k_) {
        low = middle;
      } else {
        high = middle;
        if (count <= most) break;
      }
    }
    return high;
  }

  index_t k_, step_, capacity_;
  Rounding<T> rounding_;
  UninitializedVector<T> squared_;
  UninitializedVector<std::int32_t> places_;
  alignas(64) T limits_[sixteen];
  index_t sizes_[sixteen], due_[sixteen];
};

}  // namespace spectralcls::detail
