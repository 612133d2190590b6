// Vector registers, written with the vector extensions of GCC and Clang. The same source serves SSE2, AVX2, AVX-512 and
// NEON. Intrinsics are used only if the generic expression would cost an extra instruction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
// GCC 12 mistakes the undefined operands in its AVX-512 intrinsics for uninitialized variables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

// For functions that pass arrays of vectors, which must stay in registers.
#define SPECTRALCLS_INLINE inline __attribute__((always_inline))

namespace spectralcls {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int n_vector_registers = 32;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int n_vector_registers = 16;
#elif defined(__aarch64__)
constexpr int vector_bytes = 16;
constexpr int n_vector_registers = 32;
#else
constexpr int vector_bytes = 16;
constexpr int n_vector_registers = 16;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float type __attribute__((vector_size(vector_bytes)));
  typedef std::int32_t bits __attribute__((vector_size(vector_bytes)));
};
template <>
struct VectorOf<double> {
  typedef double type __attribute__((vector_size(vector_bytes)));
  typedef std::int64_t bits __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Vec = typename VectorOf<T>::type;
template <class T>
using Bits = typename VectorOf<T>::bits;
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
inline Vec<T> load(const T* p) {
  return *reinterpret_cast<const Vec<T>*>(p);
}
template <class T>
inline void store(T* p, Vec<T> v) {
  *reinterpret_cast<Vec<T>*>(p) = v;
}
template <class T>
inline Vec<T> load_unaligned(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
inline void store_unaligned(T* p, Vec<T> v) {
  std::memcpy(p, &v, sizeof v);
}
// Writes to an aligned address, bypassing the caches. Call stream_fence() before another thread reads the data.
template <class T>
inline void store_streaming(T* p, Vec<T> v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)v);
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)v);
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), (__m128i)v);
#else
  store(p, v);
#endif
}
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
// Returns a vector with x in every lane. Zero is subtracted, not added, because the compiler may remove a subtraction
// of +0, but not an addition, which would change -0.
template <class T>
inline Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}

// Returns the larger operand in each lane, or the second operand if either is NaN, as the x86 instruction does.
template <class T>
inline Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return a > b ? a : b;
}
// Returns the smaller operand in each lane, or the second operand if either is NaN, as the x86 instruction does.
template <class T>
inline Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return a < b ? a : b;
}

template <class T>
inline Vec<T> square_root(Vec<T> a) {
  for (int i = 0; i < lanes<T>; ++i) a[i] = std::sqrt(a[i]);
  return a;
}

// Returns the sign bit of lane i in bit i. If `signs` is the result of a comparison, the bits mark the lanes in which
// the comparison is true.
template <class T>
inline unsigned sign_bits(Bits<T> signs) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask((__m512i)signs);
  else return _mm512_movepi64_mask((__m512i)signs);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) return static_cast<unsigned>(_mm256_movemask_ps((__m256)signs));
  else return static_cast<unsigned>(_mm256_movemask_pd((__m256d)signs));
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4) return static_cast<unsigned>(_mm_movemask_ps((__m128)signs));
  else return static_cast<unsigned>(_mm_movemask_pd((__m128d)signs));
#else
  unsigned bits = 0;
  for (int i = 0; i < lanes<T>; ++i) bits |= signs[i] < 0 ? 1u << i : 0u;
  return bits;
#endif
}

// Sets bit i of the result if a[i] < b[i]; a NaN never sets a bit. AVX-512 compares into masks, which GCC does not
// derive from the vector expression.
template <class T>
inline unsigned less_bits(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
  else return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
#else
  return sign_bits<T>((Bits<T>)(a < b));
#endif
}
// Sets bit i of the result if a[i] <= b[i]; a NaN never sets a bit.
template <class T>
inline unsigned at_most_bits(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
  else return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ);
#else
  return sign_bits<T>((Bits<T>)(a <= b));
#endif
}

// Returns the smallest of `Lanes` values. Halves their number at each step.
template <class T, int Lanes>
inline T smallest_of(const T* values) {
  if constexpr (Lanes == 1) {
    return *values;
  } else {
    T half[Lanes / 2];
    for (int i = 0; i < Lanes / 2; ++i) half[i] = values[i + Lanes / 2] < values[i] ? values[i + Lanes / 2] : values[i];
    return smallest_of<T, Lanes / 2>(half);
  }
}
template <class T>
inline T smallest_lane(Vec<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_reduce_min_ps((__m512)v);
  else return _mm512_reduce_min_pd((__m512d)v);
#else
  T values[lanes<T>];
  std::memcpy(values, &v, sizeof v);
  return smallest_of<T, lanes<T>>(values);
#endif
}

// Returns the sum of `Lanes` values. Halves their number at each step.
template <int Lanes>
inline double sum_of_doubles(const double* values) {
  if constexpr (Lanes == 1) {
    return *values;
  } else {
    typedef double Half __attribute__((vector_size(Lanes / 2 * 8)));
    Half low, high;
    std::memcpy(&low, values, sizeof low);
    std::memcpy(&high, values + Lanes / 2, sizeof high);
    low += high;
    double half[Lanes / 2];
    std::memcpy(half, &low, sizeof low);
    return sum_of_doubles<Lanes / 2>(half);
  }
}
// Returns the sum of all lanes, computed in double.
template <class T>
inline double sum_of_lanes(Vec<T> v) {
  double values[lanes<double>];
  if constexpr (sizeof(T) == 4) {
    typedef float Half __attribute__((vector_size(vector_bytes / 2)));
    Half halves[2];
    std::memcpy(halves, &v, sizeof v);
    const Vec<double> sum =
        __builtin_convertvector(halves[0], Vec<double>) + __builtin_convertvector(halves[1], Vec<double>);
    std::memcpy(values, &sum, sizeof sum);
  } else {
    std::memcpy(values, &v, sizeof v);
  }
  return sum_of_doubles<lanes<double>>(values);
}

// Interleaves the lanes of the lower halves of a and b (Half 0), or of the upper halves (Half 1).
template <int Half, class T, int... Lane>
inline Vec<T> interleave(Vec<T> a, Vec<T> b, std::integer_sequence<int, Lane...>) {
  constexpr int W = sizeof...(Lane);
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (Half * W / 2 + Lane / 2 + Lane % 2 * W)...);
#else
  return __builtin_shuffle(a, b, Bits<T>{(Half * W / 2 + Lane / 2 + Lane % 2 * W)...});
#endif
}

// Transposes a square matrix of lanes<T> row vectors in log2(lanes<T>) rounds. Each round interleaves pairs of vectors
// that are half the matrix apart.
template <class T>
SPECTRALCLS_INLINE void transpose(Vec<T> (&rows)[lanes<T>]) {
  constexpr int W = lanes<T>;
  constexpr auto all = std::make_integer_sequence<int, W>{};
  for (int round = 1; round < W; round *= 2) {
    Vec<T> next[W];
#pragma GCC unroll 8
    for (int i = 0; i < W / 2; ++i) {
      next[2 * i] = interleave<0, T>(rows[i], rows[i + W / 2], all);
      next[2 * i + 1] = interleave<1, T>(rows[i], rows[i + W / 2], all);
    }
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) rows[i] = next[i];
  }
}

// Returns a vector whose lane i is the sum over all lanes of vectors[i], for N = lanes<T> vectors. Pairs of vectors are
// interleaved and added, which halves the number of vectors, until one vector is left.
template <class T, int N>
SPECTRALCLS_INLINE Vec<T> sums_of_lanes(Vec<T>* vectors) {
  constexpr auto all = std::make_integer_sequence<int, lanes<T>>{};
  if constexpr (N == 1) {
    return vectors[0];
  } else {
    // Vectors half the array apart are paired, so the sums end up in the order of the vectors.
#pragma GCC unroll 8
    for (int i = 0; i < N / 2; ++i)
      vectors[i] =
          interleave<0, T>(vectors[i], vectors[i + N / 2], all) + interleave<1, T>(vectors[i], vectors[i + N / 2], all);
    return sums_of_lanes<T, N / 2>(vectors);
  }
}

// While a FlushSubnormals exists, results and operands below the normal range count as zero on this thread. Kernel
// values such as 1e-310 then need no microcode assist. exp2_biased relies on this mode to return zero instead of a
// subnormal. A nested KeepSubnormals restores subnormals for its own lifetime.
class SubnormalMode {
 public:
  SubnormalMode(const SubnormalMode&) = delete;
  SubnormalMode& operator=(const SubnormalMode&) = delete;

 protected:
#if defined(__x86_64__)
  explicit SubnormalMode(bool flush) : saved_(_mm_getcsr()) { _mm_setcsr(flush ? saved_ | bits : saved_ & ~bits); }
  ~SubnormalMode() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned bits = 0x8040;
  unsigned saved_;
#elif defined(__aarch64__)
  explicit SubnormalMode(bool flush) {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" ::"r"(flush ? saved_ | bit : saved_ & ~bit));
  }
  ~SubnormalMode() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

 private:
  static constexpr std::uint64_t bit = 1ull << 24;
  std::uint64_t saved_;
#else
  explicit SubnormalMode(bool) {}
  ~SubnormalMode() {}
#endif
};
struct FlushSubnormals : SubnormalMode {
  FlushSubnormals() : SubnormalMode(true) {}
};
struct KeepSubnormals : SubnormalMode {
  KeepSubnormals() : SubnormalMode(false) {}
};

}  // namespace spectralcls
