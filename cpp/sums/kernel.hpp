// The radial kernels, as rows of a table. A new kernel needs a row here, and one in _profiles.py.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace spectralcls {

constexpr double ln2 = 0.69314718055994530942;

// The decay of a kernel k(u), u = |x - y| / h, with bandwidth h. It determines the argument a that is computed from
// each distance. With the rate r of the kernel at the scale of the packed points, and a factor f:
//   gaussian     k = 2^(-r a) f(u), a the squared distance, r a = u^2 log2(e) / 2;
//   exponential  k = 2^(-r a) f(u), a the distance, r a = u log2(e);
//   compact      k = f(v) or f(v, r a), v = max(1 - r a, 0), a the squared distance, r a = u^2.
enum class Decay { gaussian, exponential, compact };

struct Traits {
  const char* name;
  Decay decay;
  double at_zero;     // k(0); set by convention if the kernel is singular
  bool rates_double;  // doubling the rate squares the kernel, so bandwidths can share exponentials
};

// The factor f = 1 of a kernel that equals its decay.
struct One {};

template <class Factor>
struct Profile : Traits {
  static constexpr bool has_factor = !std::is_same_v<Factor, One>;
  Factor factor;
  constexpr Profile(const char* called, Decay by, double zero, Factor f)
      : Traits{called, by, zero, by != Decay::compact && !has_factor}, factor(f) {}
};

// cos(pi u / 2) = (1 - s) P(s), s = u^2. P is entire in s, so there is no square root, and the value at s = 1 is
// exactly zero. The coefficients of P are minimax on [0, 1], with a relative error of 1e-9 in float and 3e-20 in
// double.
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
template <class V>
inline V cosine_of_root(V v) {
  using T = std::decay_t<decltype(v[0])>;
  using C = CosineConstants<T>;
  const V s = T(1) - v;
  V p = V{} + C::p[C::degree];
#pragma GCC unroll 16
  for (int i = C::degree - 1; i >= 0; --i) p = p * s + C::p[i];
  return v * p;
}

// Returns 1 - u, given v = max(1 - u^2, 0) and u^2. A u computed from v alone would have only half of its digits near
// zero. Defined in profile.hpp, because the square root depends on the instruction set.
template <class V>
V linear_of_square(V v, V square);

inline constexpr auto profiles = std::make_tuple(
    Profile{"gaussian", Decay::gaussian, 1, One{}},
    Profile{"epanechnikov", Decay::compact, 1, [](auto v) { return v; }},
    Profile{"uniform", Decay::compact, 1, [](auto v) { return v > decltype(v){} ? decltype(v){} + 1 : decltype(v){}; }},
    Profile{"quartic", Decay::compact, 1, [](auto v) { return v * v; }},
    Profile{"triweight", Decay::compact, 1, [](auto v) { return v * v * v; }},
    Profile{"cosine", Decay::compact, 1, [](auto v) { return cosine_of_root(v); }},
    Profile{"linear", Decay::compact, 1, [](auto v, auto square) { return linear_of_square(v, square); }},
    Profile{"laplace", Decay::exponential, 1, One{}},
    Profile{"laplace_derivative", Decay::exponential, 0, [](auto u) { return 1 / u; }});

// The number of a row of the table. The Gaussian must be the first row, because code refers to it as Kernel::gaussian.
enum class Kernel : int { gaussian = 0 };

Kernel kernel_from_name(const std::string& name);  // throws std::invalid_argument
const Traits& traits(Kernel kernel);

// Returns the rate of a bandwidth, clamped to the range of T. An infinite distance times the smallest rate is then
// infinite, and distance zero times the largest rate is zero.
template <class T>
double rate(Kernel kernel, double scale, double bandwidth);

// Returns the kernel's argument for a squared distance.
double argument(Kernel kernel, double squared);

}  // namespace spectralcls
