// The points that may be among the k nearest of one query, from distances that are rounded.
#pragma once

#include <algorithm>
#include <limits>

#include "neighbors/lanes.hpp"
#include "base/points.hpp"

namespace spectralcls::detail {

// How rounded squared distances of d coordinates bound exact ones: a point is out if its rounded one exceeds the limit.
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
  // For `n` queries.
  Shortlists(int n, index_t k, const Rounding<T>& rounding)
      : k_(k), step_(std::max<index_t>(sixteen, k / 2 / sixteen * sixteen)), capacity_(capacity(k)), rounding_(rounding) {
    squared_.resize(static_cast<std::size_t>(n * capacity_ + sixteen));
    places_.resize(squared_.size());
  }
  static index_t capacity(index_t k) {
    const index_t step = std::max<index_t>(sixteen, k / 2 / sixteen * sixteen);
    return (k + sixteen / 2 + sixteen - 1) / sixteen * sixteen + step + sixteen;
  }

  void clear() {
    for (int r = 0; r < sixteen; ++r) {
      limits[r] = std::numeric_limits<T>::infinity();
      sizes_[r] = 0;
      due_[r] = k_;
    }
  }

  alignas(64) T limits[sixteen];

  // Of 16 points at places from `place` on, those whose bit is set.
  SPECTRALCLS_INLINE void add(int r, const T* squared, std::int32_t place, unsigned bits) {
    const index_t at = r * capacity_ + sizes_[r];
#if defined(__AVX512F__)
    static_assert(sixteen == 16);
    const __m512i places = _mm512_add_epi32(_mm512_set1_epi32(place), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    pack_chosen(squared_.data() + at, squared, bits);
    _mm512_storeu_si512(places_.data() + at, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), places));
#else
    T* to = squared_.data() + at;
    std::int32_t* to_places = places_.data() + at;
    for (unsigned rest = bits; rest; rest &= rest - 1) {
      const int j = __builtin_ctz(rest);
      *to++ = squared[j];
      *to_places++ = place + j;
    }
#endif
    sizes_[r] += __builtin_popcount(bits);
  }
  bool is_due(int r) const { return sizes_[r] >= due_[r]; }

  index_t size(int r) const { return sizes_[r]; }
  const std::int32_t* places(int r) const { return places_.data() + r * capacity_; }

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
    limits[r] = std::min(limits[r], limit);
    sizes_[r] = kept;
    due_[r] = kept + step_;
    return due_[r] <= capacity_ - sixteen;
  }

 private:
  // A number with k or a few more at most there.
  T kth(const T* squared, index_t n) const {
    const index_t most = k_ + k_ / 8;
    Vec<T> low_v = broadcast<T>(std::numeric_limits<T>::infinity()), high_v = -low_v;
    for (index_t i = 0; i < n; i += lanes<T>) {
      const Vec<T> v = load_unaligned(squared + i);
      low_v = minimum<T>(v, low_v);
      high_v = maximum<T>(v, high_v);
    }
    T high = -smallest_lane<T>(-high_v);
    if (n <= most) return high;
    T low = smallest_lane<T>(low_v);
    if (k_ == 1) return low;
    for (int step = 0; step < 40; ++step) {
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
  index_t sizes_[sixteen], due_[sixteen];
};

}  // namespace spectralcls::detail
