#include "base/principal_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spectralcls {
namespace {

using Vectors = std::vector<std::vector<double>>;

constexpr index_t sample_rows = 256;
constexpr int rounds = 4;  // any orthonormal axes are right; better ones than these pay for themselves no more

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr int W = lanes<double>, n_sums = 4;  // one would wait for itself
  const std::size_t step = n_sums * W, whole = a.size() / step * step;
  Vec<double> sum[n_sums] = {};
  for (std::size_t i = 0; i < whole; i += step)
    for (int v = 0; v < n_sums; ++v)
      sum[v] += load_unaligned(a.data() + i + v * W) * load_unaligned(b.data() + i + v * W);
  return std::inner_product(a.begin() + static_cast<std::ptrdiff_t>(whole), a.end(),
                            b.begin() + static_cast<std::ptrdiff_t>(whole),
                            sum_of_lanes<double>((sum[0] + sum[1]) + (sum[2] + sum[3])));
}
void add(std::vector<double>& to, double factor, const std::vector<double>& x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

// Gram-Schmidt, twice. A vector that depends on those before becomes the first feature that does not.
void orthonormalize(Vectors& vectors) {
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    std::vector<double>& v = vectors[j];
    for (std::size_t feature = 0;; ++feature) {
      const double length = std::sqrt(inner(v, v));
      if (length > 0)
        for (double& x : v) x /= length;
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t i = 0; i < j; ++i) add(v, -inner(v, vectors[i]), vectors[i]);
      const double left = std::sqrt(inner(v, v));
      if (left > 1e-3) {
        for (double& x : v) x /= left;
        for (std::size_t i = 0; i < j; ++i) add(v, -inner(v, vectors[i]), vectors[i]);
        break;
      }
      std::fill(v.begin(), v.end(), 0.0);
      v[feature] = 1;
    }
  }
}

// Centered and scaled. A far query is clamped, so that its norm is a float; a distance never grows by that.
template <class T>
void center(const T* x, const Geometry& geometry, std::vector<double>& to) {
  const double limit = std::min(geometry.limit, 1e15);
  for (std::size_t k = 0; k < to.size(); ++k)
    to[k] = std::clamp((static_cast<double>(x[k]) - geometry.center[k]) / geometry.scale, -limit, limit);
}

}  // namespace

template <class T>
PrincipalAxes PrincipalAxes::of(MatrixView<T> points, const Geometry& geometry, index_t n_axes) {
  const auto d = static_cast<std::size_t>(points.cols);
  const index_t n = std::min(points.rows, sample_rows);
  PrincipalAxes result;
  result.d_ = points.cols;
  result.n_axes_ = std::min({n_axes, most, points.cols});

  Vectors sample(static_cast<std::size_t>(n), std::vector<double>(d));
  std::vector<double> mean(d, 0.0), spread(d, 0.0);
  for (index_t i = 0; i < n; ++i) {
    center(points.row(i * points.rows / n), geometry, sample[static_cast<std::size_t>(i)]);
    add(mean, 1.0 / static_cast<double>(n), sample[static_cast<std::size_t>(i)]);
  }
  for (std::vector<double>& x : sample) {
    add(x, -1, mean);
    for (std::size_t k = 0; k < d; ++k) spread[k] += x[k] * x[k];
  }

  // Orthogonal iteration from the features of the largest spread; columns come out by falling variance.
  std::vector<std::size_t> order(d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spread[a] > spread[b]; });
  Vectors axes(static_cast<std::size_t>(result.n_axes_), std::vector<double>(d, 0.0));
  for (std::size_t j = 0; j < axes.size(); ++j) axes[j][order[j]] = 1;
  std::vector<double> image(d);
  for (int round = 0; round < rounds; ++round) {
    for (std::vector<double>& axis : axes) {
      std::fill(image.begin(), image.end(), 0.0);
      for (const std::vector<double>& x : sample) add(image, inner(x, axis), x);
      axis.swap(image);
    }
    orthonormalize(axes);
  }
  result.axes_.assign(d * static_cast<std::size_t>(most), 0.0);
  for (std::size_t j = 0; j < axes.size(); ++j)
    for (std::size_t k = 0; k < d; ++k) result.axes_[k * static_cast<std::size_t>(most) + j] = axes[j][k];
  return result;
}

template <class T>
AlignedVector<float> PrincipalAxes::coordinates(MatrixView<T> points, const Geometry& geometry,
                                                const Execution& execution) const {
  constexpr index_t rows_a_chunk = 1024;
  const index_t width = n_coordinates();
  AlignedVector<float> all(static_cast<std::size_t>(points.rows * width));
  for_each_chunk((points.rows + rows_a_chunk - 1) / rows_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    std::vector<double> x(static_cast<std::size_t>(d_));
    for (index_t i = chunk * rows_a_chunk; i < std::min((chunk + 1) * rows_a_chunk, points.rows); ++i) {
      center(points.row(i), geometry, x);
      double along[most] = {};
      const double* axes = axes_.data();
      for (const double value : x) {
        for (index_t j = 0; j < most; ++j) along[j] += value * axes[j];
        axes += most;
      }
      float* to = all.data() + i * width;
      if (width > n_axes_)
        *to++ = static_cast<float>(
            std::sqrt(std::max(0.0, inner(x, x) - std::inner_product(along, along + most, along, 0.0))));
      for (index_t j = 0; j < n_axes_; ++j) to[j] = static_cast<float>(along[j]);
    }
  });
  return all;
}

template PrincipalAxes PrincipalAxes::of(MatrixView<float>, const Geometry&, index_t);
template PrincipalAxes PrincipalAxes::of(MatrixView<double>, const Geometry&, index_t);
template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<float>, const Geometry&, const Execution&) const;
template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<double>, const Geometry&, const Execution&) const;

}  // namespace spectralcls
