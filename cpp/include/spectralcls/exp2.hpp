// 2^x for a vector, to the accuracy that sums of kernels need, in as few instructions as we know.
#pragma once

#include "spectralcls/simd.hpp"

namespace spectralcls {

// Minimax polynomials in f for 2^(f + 1/2) on |f| <= 1/2, lowest power first (Remez, relative error 8.2e-8 and
// 2.2e-16), among those that are exactly 1 at f = -1/2 when evaluated in T: 2^0 = 1. Evaluated in T the largest
// errors are 1.6e-7 and 3.8e-16, below two units in the last place.
template <class T>
struct Exp2Constants;
template <>
struct Exp2Constants<float> {
  static constexpr int degree = 5;
  static constexpr float p[] = {1.4142136573791504f, 0.9802576899528503f,  0.3397237956523895f,
                                0.07850179821252823f, 0.01368485577404499f, 0.0018671307479962707f};
  static constexpr float round = 12582912.0f;   // 1.5 * 2^23: adding it rounds to an integer kept in the low bits
  static constexpr float lowest = -126.9f;      // rounds to -127 with f > 0: exponent field 0, that is, zero
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

// 2^(x + 1/2) for x <= the largest exponent, N vectors at once; x below the normal range gives zero (under
// FlushSubnormals; a subnormal otherwise). 4 operations for the range reduction, `degree` for the polynomial, 2 for
// the scaling. One vector is a chain of some 45 cycles: step by step over several keeps the multipliers busy.
template <class T, int N>
inline void exp2_biased(Vec<T> (&x)[N]) {
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

}  // namespace spectralcls
