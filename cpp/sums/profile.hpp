// The radial kernels as functions of the squared distance, on vectors.
#pragma once

#include "sums/exp2.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

// cos(pi u / 2) = (1 - s) P(s), s = u^2, with P entire in s: no square root and exact zero at s = 1.
// Minimax coefficients of P on [0, 1], relative error 1e-9 and 3e-20.
template <class T>
struct CosineConstants;
template <>
struct CosineConstants<float> {
  static constexpr int degree = 4;
  static constexpr float p[] = {0.99999999901810188779f, -0.2337005029853680659f, 0.019968590079591097687f,
                                -0.00089350992830806106451f, 0.000023587984612425072316f};
};
template <>
struct CosineConstants<double> {
  static constexpr int degree = 8;
  static constexpr double p[] = {1.0,
                                 -0.23370055013616982283,
                                 0.019968957764878067929,
                                 -0.00089452299847357846599,
                                 0.000024737276358579166329,
                                 -4.6476599104864948555e-7,
                                 6.3214402610267476446e-9,
                                 -6.5104897207076153709e-11,
                                 5.1074869641621431495e-13};
};

// A compact kernel as a polynomial in s = u^2, cut off at s = 1 (support open).
template <Kernel K, class T>
inline Vec<T> compact_profile(Vec<T> s) {
  const Vec<T> zero{};
  const Vec<T> v = maximum<T>(T(1) - s, zero);
  if constexpr (K == Kernel::epanechnikov) return v;
  if constexpr (K == Kernel::quartic) return v * v;
  if constexpr (K == Kernel::triweight) return v * v * v;
  if constexpr (K == Kernel::uniform) return v > zero ? broadcast<T>(T(1)) : zero;
  if constexpr (K == Kernel::cosine) {
    const Vec<T> inside = minimum<T>(s, broadcast<T>(T(1)));
    constexpr int degree = CosineConstants<T>::degree;
    Vec<T> p = broadcast<T>(CosineConstants<T>::p[degree]);
#pragma GCC unroll 16
    for (int i = degree - 1; i >= 0; --i) p = p * inside + CosineConstants<T>::p[i];
    return v * p;
  }
}

}  // namespace spectralcls
