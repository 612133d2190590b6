// 2^x for a vector, to the accuracy that sums of kernels need, in as few instructions as we know.
#pragma once

#include "base/simd.hpp"

namespace spectralcls {

#if defined(__AVX512F__) && defined(__AVX512DQ__)

// AVX-512 has the fractional part and the scaling by a power of two as full-rate instructions: 2^x is
// 2^floor(x) P(x - floor(x)), `degree` + 2 operations. P is the minimax polynomial for 2^f on [0, 1] with P(0) = 1
// (Remez, relative error 8.2e-8 and 2.2e-16; evaluated in T at most 1.5e-7 and 3.4e-16).
template <class T>
struct Exp2Constants;
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
struct Exp2Constants<double> {
  static constexpr int degree = 10;
  static constexpr double p[] = {1.0,
                                 0.693147180559909,
                                 0.2402265069609468,
                                 0.05550410863258434,
                                 0.009618129384472682,
                                 0.0013333544569600095,
                                 0.00015403939746608066,
                                 1.5244895691443518e-05,
                                 1.3310801476679923e-06,
                                 9.469649058238791e-08,
                                 9.935330945015727e-09};
};

template <class T>
constexpr T exp2_bias = T(0);

template <class T>
inline Vec<T> fraction_above_floor(Vec<T> x) {
  constexpr int floor = 1;
  if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_reduce_ps((__m512)x, floor);
  else return (Vec<T>)_mm512_reduce_pd((__m512d)x, floor);
}
template <class T>
inline Vec<T> times_two_to_floor(Vec<T> p, Vec<T> x) {
  if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_scalef_ps((__m512)p, (__m512)x);
  else return (Vec<T>)_mm512_scalef_pd((__m512d)p, (__m512d)x);
}

// 2^(x - exp2_bias), N vectors at once; x below the normal range gives zero (under FlushSubnormals). One vector is a
// chain of some 40 cycles: step by step over several keeps the multipliers busy.
template <class T, int N>
SPECTRALCLS_INLINE void exp2_biased(Vec<T> (&x)[N]) {
  using C = Exp2Constants<T>;
  Vec<T> f[N], p[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) f[i] = fraction_above_floor<T>(x[i]);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) p[i] = f[i] * C::p[C::degree] + C::p[C::degree - 1];
#pragma GCC unroll 16
  for (int k = C::degree - 2; k >= 0; --k)
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) p[i] = p[i] * f[i] + C::p[k];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) x[i] = times_two_to_floor<T>(p[i], x[i]);
}

#else

// Minimax polynomials in f for 2^(f + 1/2) on |f| <= 1/2, lowest power first (Remez, relative error 8.2e-8 and
// 2.2e-16), among those that are exactly 1 at f = -1/2 when evaluated in T: 2^0 = 1. Evaluated in T the largest
// errors are 1.6e-7 and 3.8e-16, below two units in the last place.
template <class T>
struct Exp2Constants;
template <>
struct Exp2Constants<float> {
  static constexpr int degree = 5;
  static constexpr float p[] = {1.4142136573791504f,  0.9802576899528503f,  0.3397237956523895f,
                                0.07850179821252823f, 0.01368485577404499f, 0.0018671307479962707f};
  static constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer kept in the low bits
  static constexpr float lowest = -126.9f;     // rounds to -127 with f > 0: exponent field 0, that is, zero
  static constexpr int mantissa_bits = 23;
};
template <>
struct Exp2Constants<double> {
  static constexpr int degree = 10;
  static constexpr double p[] = {1.4142135623730951,     0.9802581434685537,     0.3397315841830517,
                                 0.07849466324069503,    0.013602088629402953,   0.001885649888366534,
                                 0.00021783880778957735, 2.1570514661532215e-05, 1.8689868284201649e-06,
                                 1.4437314530746654e-07, 9.935330945015727e-09};
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double lowest = -1022.9;
  static constexpr int mantissa_bits = 52;
};

// What to add to x before exp2_biased(x): with it the fractional part lands on [-1/2, 1/2] and the polynomial
// on [1, 2], so that the scaling by 2^n below can never carry into the sign.
template <class T>
constexpr T exp2_bias = T(-0.5);

// 2^(x - exp2_bias) for x <= the largest exponent, N vectors at once; x below the normal range gives zero (under
// FlushSubnormals; a subnormal otherwise). 4 operations for the range reduction, `degree` for the polynomial, 2 for
// the scaling. One vector is a chain of some 45 cycles: step by step over several keeps the multipliers busy.
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
