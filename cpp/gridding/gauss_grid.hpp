// Gaussian sums on a grid. Sources are spread onto a patch of grid points, and targets gather from it.
//
// In d dimensions and in units of the bandwidth, exp(-|x - y|^2 / 2) = (2 / pi)^(d/2) *
// integral of exp(-|x - z|^2) exp(-|z - y|^2) dz. The integral is replaced by D^d times the sum over the grid D Z^d,
// with spacing D. By Poisson summation, the sum is the integral times a factor between (1 - e)^d and (1 + e)^d for any
// x and y, with e = 2 (q + q^4 + ...) and q = exp(-pi^2 / (2 D^2)). Both Gaussians are cut to the `width` nearest grid
// points along each axis, so only points z with |z - x| < a = width D / 2 on every axis are certain to be included. Let
// c = D sqrt(2 / pi), T = sum over k >= 0 of exp(-2 k^2 D^2), and t = |x - y| along one axis. The part omitted along
// this axis is at most
//   2 c T (exp(-a^2 - (t - a)^2) + exp(-a^2 - (t + a)^2)) for t <= 2 a, and exp(-t^2 / 2) (1 + e) beyond.
// The factor of every other axis is at most 1 + e. For a pair this gives
//   |grid - exp(-|x - y|^2 / 2)| <= relative * exp(-|x - y|^2 / 2) + absolute,
//   relative = (1 + e)^d - 1,  absolute = d (1 + e)^(d - 1) max(2 c T (exp(-a^2) + exp(-2 a^2)), (1 + e) exp(-2 a^2)).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "sums/exp2.hpp"

namespace spectralcls {

constexpr int gridding_widths[] = {8, 12, 16, 24, 32, 48};

struct GriddingAccuracy {
  double spacing = 0;   // in bandwidths
  int width = 0;        // grid points of a stencil along an axis; 0: no width reaches the accuracy
  double relative = 0;  // bounds on the error of one pair, as above
  double absolute = 0;

  // Returns the coarsest grid whose relative error is at most `relative`, and the narrowest stencil whose absolute
  // error is at most `absolute`.
  static GriddingAccuracy reach(int d, double relative, double absolute);
};

// The grid points [0, extent) on each axis around one box of targets, with `n_channels` values at each. Positions are
// in grid units from the first point of the patch. Targets lie in [Width / 2, Width / 2 + Box].
template <int D, int Width, int Box>
class GridPatch {
 public:
  static constexpr int extent = Box + Width;
  // The innermost axis is processed in whole vectors, so its stencils are a little wider and may extend beyond the
  // patch.
  static constexpr int padded = (Width + lanes<double> - 1) / lanes<double> * lanes<double>;
  static constexpr int stride = extent + 2 * padded;
  static constexpr index_t size = [] {
    index_t rows = 1;
    for (int k = 0; k + 1 < D; ++k) rows *= extent;
    return rows * stride;
  }();

  struct Stencil {
    std::array<int, D> first;
    alignas(64) double value[D][padded];
  };

  GridPatch(double spacing, int n_channels)
      : decay_(spacing * spacing * 1.4426950408889634), values_(size * n_channels) {
    for (int k = 1; k < Width; ++k) {
      const double value = std::exp2(-decay_ * k * k);
      whole_ += 2 * value;
      if (k > near) far_ += 2 * value;
    }
  }

  void clear(int channel) { std::fill_n(values_.data() + channel * size, size, 0.0); }

  Stencil stencil(const double* position) const {
    Stencil s;
    for (int k = 0; k < D; ++k) s.first[k] = static_cast<int>(std::ceil(position[k] - Width / 2));
    fill(position, s);
    return s;
  }

  // Returns a target's stencil, clamped so that rounding cannot move it over the edge.
  Stencil target_stencil(const double* position) const {
    Stencil s;
    for (int k = 0; k < D; ++k)
      s.first[k] = std::min(std::max(static_cast<int>(std::ceil(position[k] - Width / 2)), 0), Box);
    fill(position, s);
    return s;
  }

  // Returns whether a source at this position reaches any grid point of the patch.
  static bool reaches(const double* position) {
    for (int k = 0; k < D; ++k)
      if (!(position[k] > -Width / 2 && position[k] < extent + Width / 2)) return false;
    return true;
  }

  void spread(const Stencil& s, double weight, int channel) { spread<0>(s, weight, values_.data() + channel * size); }

  double gather(const Stencil& s, int channel) const {
    Vec<double> sum[padded / lanes<double>] = {};
    gather<0>(s, 1.0, values_.data() + channel * size, sum);
    Vec<double> total{};
    for (int v = 0; v < padded / lanes<double>; ++v) total += sum[v] * loaded(s.value[D - 1] + v * lanes<double>);
    return sum_of_lanes<double>(total);
  }

  // Returns an upper bound on gather() for all targets p with position[k] <= p[k] <= position[k] + side.
  double bound(const double* position, int side, int channel) const {
    constexpr double rounding = 1 + 1e-9;  // margin for the rounding of positions
    const double* values = values_.data() + channel * size;
    const double inner = largest<0>(position, side, near, values);
    const double outer = largest<0>(position, side, Width / 2, values);
    return rounding * std::pow(whole_, D - 1) * (whole_ * inner + D * far_ * outer);
  }

  // Returns the contribution of a source of weight 1 to a target, summed over the grid points in both stencils.
  static double overlap(const Stencil& source, const Stencil& target) {
    double product = 1;
    for (int k = 0; k < D; ++k) {
      const int width = k + 1 < D ? Width : padded, shift = target.first[k] - source.first[k];
      double sum = 0;
      for (int i = std::max(0, -shift); i < std::min(width, width - shift); ++i)
        sum += target.value[k][i] * source.value[k][i + shift];
      product *= sum;
    }
    return product;
  }

 private:
  void fill(const double* position, Stencil& s) const {
    for (int k = 0; k < D; ++k) {
      Vec<double> x[padded / lanes<double>];
      for (int v = 0; v < padded / lanes<double>; ++v)
        for (int i = 0; i < lanes<double>; ++i) {
          const double u = position[k] - (s.first[k] + v * lanes<double> + i);
          x[v][i] = -decay_ * u * u + exp2_bias<double>;
        }
      exp2_biased<double>(x);
      std::memcpy(s.value[k], x, sizeof x);
    }
  }

  static Vec<double> loaded(const double* p) {
    Vec<double> v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }

  template <int K>
  void spread(const Stencil& s, double weight, double* at) {
    if constexpr (K + 1 == D) {
      double* row = at + padded + s.first[K];
      for (int v = 0; v < padded; v += lanes<double>) {
        const Vec<double> sum = loaded(row + v) + weight * loaded(s.value[K] + v);
        std::memcpy(row + v, &sum, sizeof sum);
      }
    } else {
      const int begin = std::max(0, -s.first[K]), end = std::min(Width, extent - s.first[K]);
      for (int i = begin; i < end; ++i) spread<K + 1>(s, weight * s.value[K][i], at + (s.first[K] + i) * step<K>);
    }
  }

  template <int K>
  void gather(const Stencil& s, double weight, const double* at, Vec<double>* sum) const {
    if constexpr (K + 1 == D) {
      const double* row = at + padded + s.first[K];
      for (int v = 0; v < padded / lanes<double>; ++v) sum[v] += weight * loaded(row + v * lanes<double>);
    } else {
      for (int i = 0; i < Width; ++i) gather<K + 1>(s, weight * s.value[K][i], at + (s.first[K] + i) * step<K>, sum);
    }
  }

  // Returns the largest grid value within `reach` of the targets of bound(). A few values farther away may be included.
  template <int K>
  double largest(const double* position, int side, int reach, const double* at) const {
    const int begin = std::max(0, static_cast<int>(std::floor(position[K])) - reach);
    if constexpr (K + 1 == D) {
      const int end = begin + side + 2 * reach + 1 + (padded - Width);
      Vec<double> most{};
      for (int i = begin; i < end; i += lanes<double>) most = maximum<double>(most, loaded(at + padded + i));
      double values[lanes<double>];
      std::memcpy(values, &most, sizeof values);
      return *std::max_element(values, values + lanes<double>);
    } else {
      const int end = std::min(extent, begin + side + 2 * reach + 2);
      double most = 0;
      for (int i = begin; i < end; ++i) most = std::max(most, largest<K + 1>(position, side, reach, at + i * step<K>));
      return most;
    }
  }

  // Distance in memory between neighbors along axis K.
  template <int K>
  static constexpr index_t step = [] {
    index_t s = stride;
    for (int k = K + 2; k < D; ++k) s *= extent;
    return s;
  }();

  static constexpr int near = 2;
  double decay_;
  // Bounds on the sum of a stencil along an axis: over all its points, and over those farther than `near` from the
  // target.
  double whole_ = 1, far_ = 0;
  AlignedVector<double> values_;
};

}  // namespace spectralcls
