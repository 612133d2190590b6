// 2^x for a vector, as accurate as kernel sums need, in as few instructions as possible.
#pragma once

#include "infrastructure/simd.hpp"

namespace spectralcls {

template <class T>
struct Exp2Constants;

// The minimax polynomial for 2^f on |f| <= 1/2 that matches the value and the slope of 2^f at 0 (Remez, relative error
// 2.9e-16). If the result is below 1, its error is little more than the last rounding. A small error matters because
// each squaring in a geometric grid doubles it.
struct Exp2NearOne {
  static constexpr int degree = 10;
  static constexpr double p[] = {1.0,
                                 0.6931471805599453,
                                 0.24022650695909267,
                                 0.055504108664639056,
                                 0.009618129107967693,
                                 0.0013333558206357805,
                                 0.0001540352997994182,
                                 1.5252668829647465e-05,
                                 1.3215670447308785e-06,
                                 1.0206762486860268e-07,
                                 7.034266801180707e-09};
};

#if defined(__AVX512F__) && defined(__AVX512DQ__)

// AVX-512 computes the fractional part, and scales by a power of two, at full rate. In float,
// 2^x = 2^floor(x) P(x - floor(x)) takes `degree` + 2 operations. P is the minimax polynomial for 2^f on [0, 1] with
// P(0) = 1 (Remez, relative error 8.2e-8; at most 1.5e-7 when evaluated). In double, x is rounded to the nearest
// integer, which takes one more operation.
template <>
struct Exp2Constants<float> {
  static constexpr int degree = 5;
  static constexpr float p[] = {1.0f,
                                0.6931512951850891f,
                                0.24016444385051727f,
                                0.05579991638660431f,
                                0.009017028845846653f,
                                0.0018671307479962707f};
};
template <>
struct Exp2Constants<double> : Exp2NearOne {};

template <class T>
constexpr T exp2_bias = T(0);

template <class T>
inline Vec<T> fraction(Vec<T> x) {
  constexpr int to_nearest = 0, floor = 1;
  if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_reduce_ps((__m512)x, floor);
  else return (Vec<T>)_mm512_reduce_pd((__m512d)x, to_nearest);
}
// Returns p times 2^(x - f), where f is the fraction of x.
template <class T>
inline Vec<T> times_power(Vec<T> p, Vec<T> x, Vec<T> f) {
  if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_scalef_ps((__m512)p, (__m512)x);  // takes the floor of x
  else return (Vec<T>)_mm512_scalef_pd((__m512d)p, (__m512d)(x - f));
}

// Computes 2^(x - exp2_bias) for N vectors. Below the normal range the result is zero (under FlushSubnormals). A vector
// is a dependency chain of about 40 cycles, so several vectors are processed together to keep the multipliers busy.
template <class T, int N>
SPECTRALCLS_INLINE void exp2_biased(Vec<T> (&x)[N]) {
  using C = Exp2Constants<T>;
  Vec<T> f[N], p[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) f[i] = fraction<T>(x[i]);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) p[i] = f[i] * C::p[C::degree] + C::p[C::degree - 1];
#pragma GCC unroll 16
  for (int k = C::degree - 2; k >= 0; --k)
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) p[i] = p[i] * f[i] + C::p[k];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) x[i] = times_power<T>(p[i], x[i], f[i]);
}

#else

// In float: the minimax polynomial for 2^(f + 1/2) on |f| <= 1/2 (Remez, relative error 8.2e-8), lowest power first.
// Only polynomials that evaluate to exactly 1 at f = -1/2 were admitted, so that 2^0 = 1. The largest error of an
// evaluation is 1.6e-7, less than two units in the last place.
template <>
struct Exp2Constants<float> {
  static constexpr int degree = 5;
  static constexpr float p[] = {1.4142136573791504f,  0.9802576899528503f,  0.3397237956523895f,
                                0.07850179821252823f, 0.01368485577404499f, 0.0018671307479962707f};
  static constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  static constexpr float lowest = -126.9f;     // rounds to -127 with P > 1: the exponent field is 0, which means zero
  static constexpr int mantissa_bits = 23;
};
template <>
struct Exp2Constants<double> : Exp2NearOne {
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double lowest = -1022.4;            // rounds to -1022 with P < 1
  static constexpr int mantissa_bits = 52;
};

// The number that callers add to x before they call exp2_biased(x). In float, P then lies in [1, 2].
template <class T>
constexpr T exp2_bias = sizeof(T) == 4 ? T(-0.5) : T(0);

// Computes 2^(x - exp2_bias) for N vectors, with no x above the largest exponent. Below the normal range the result is
// zero under FlushSubnormals, otherwise a subnormal. The range reduction takes 4 operations, the polynomial `degree`,
// the scaling 2. A vector is a dependency chain of about 45 cycles, so several vectors are processed together to keep
// the multipliers busy.
template <class T, int N>
SPECTRALCLS_INLINE void exp2_biased(Vec<T> (&x)[N]) {
  using C = Exp2Constants<T>;
  Vec<T> shifted[N], p[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) x[i] = maximum<T>(x[i], broadcast<T>(C::lowest));
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) shifted[i] = x[i] + C::round;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) x[i] = x[i] - (shifted[i] - C::round);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) p[i] = x[i] * C::p[C::degree] + C::p[C::degree - 1];
#pragma GCC unroll 16
  for (int k = C::degree - 2; k >= 0; --k)
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) p[i] = p[i] * x[i] + C::p[k];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) x[i] = (Vec<T>)((Bits<T>)p[i] + ((Bits<T>)shifted[i] << C::mantissa_bits));
}

#endif

}  // namespace spectralcls
