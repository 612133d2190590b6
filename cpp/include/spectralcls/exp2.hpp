// 2^x for a vector, to the accuracy that sums of kernels need, in as few instructions as we know.
#pragma once

#include "spectralcls/simd.hpp"

namespace spectralcls {

// Minimax polynomials in f for 2^(f + 1/2) on |f| <= 1/2 (Remez, relative error 7.5e-8 and 2.1e-16), lowest
// power first. Both are below one unit roundoff, so the result is good to about 2 ulp.
template <class T>
struct Exp2Constants;
template <>
struct Exp2Constants<float> {
  static constexpr int degree = 5;
  static constexpr float p[] = {1.4142136637081636f, 0.98025784154114984f,  0.33972407510221927f,
                                0.07849893989902589f, 0.013683281790743773f, 0.0018775767656580150f};
  static constexpr float round = 12582912.0f;   // 1.5 * 2^23: adding it rounds to an integer kept in the low bits
  static constexpr float lowest = -126.9f;      // rounds to -127 with f > 0: exponent field 0, that is, zero
  static constexpr int mantissa_bits = 23;
};
template <>
struct Exp2Constants<double> {
  static constexpr int degree = 10;
  static constexpr double p[] = {1.4142135623730951422,     0.9802581434685535071,     0.3397315841830564937,
                                 0.078494663240707697424,   0.013602088629237954842,   0.0018856498881523019,
                                 0.00021783880979458781887, 2.1570515970681177746e-5,  1.8689769612546782488e-6,
                                 1.4437052756617486667e-7,  9.9522161543607686514e-9};
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double lowest = -1022.9;
  static constexpr int mantissa_bits = 52;
};

// What to add to x before exp2_biased(x): with it the fractional part lands on [-1/2, 1/2] and the polynomial
// on [1, 2], so that the scaling by 2^n below can never carry into the sign.
template <class T>
constexpr T exp2_bias = T(-0.5);

// 2^(x + 1/2) for x <= the largest exponent; x below the normal range gives zero (under FlushSubnormals; a
// subnormal otherwise). 4 operations for the range reduction, `degree` for the polynomial, 2 for the scaling.
template <class T>
inline Vec<T> exp2_biased(Vec<T> x) {
  using C = Exp2Constants<T>;
  x = maximum<T>(x, broadcast<T>(C::lowest));
  const Vec<T> shifted = x + C::round;
  const Vec<T> f = x - (shifted - C::round);
  Vec<T> p = broadcast<T>(C::p[C::degree]);
#pragma GCC unroll 16
  for (int i = C::degree - 1; i >= 0; --i) p = p * f + C::p[i];
  return (Vec<T>)((Bits<T>)p + ((Bits<T>)shifted << C::mantissa_bits));
}

}  // namespace spectralcls
