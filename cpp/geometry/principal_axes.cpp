#include "geometry/principal_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spectralcls {
namespace {

using Vectors = std::vector<std::vector<double>>;

constexpr index_t sample_rows = 256;  // rows of the sample; several for each of at most 32 axes
constexpr int rounds = 4;             // any orthonormal axes give valid bounds, and further rounds hardly improve them

// The register block of a product has this many rows and this many vectors of columns. Its sums fill half of the
// registers.
constexpr int rows_at_once = 4, vectors_at_once = n_vector_registers / 2 / rows_at_once;

// Multiplies a block of Rows rows of `depth` numbers by a matrix (depth, most). The result is (Rows, most).
template <int Rows>
void multiply_rows(const double* rows, index_t depth, const double* columns, double* out) {
  constexpr int W = lanes<double>;
  constexpr index_t most = PrincipalAxes::most, step = vectors_at_once * W;
  static_assert(most % step == 0);
  for (index_t first = 0; first < most; first += step) {
    Vec<double> sum[Rows][vectors_at_once] = {};
    const double* column = columns + first;
    for (index_t k = 0; k < depth; ++k, column += most)
#pragma GCC unroll 4
      for (int v = 0; v < vectors_at_once; ++v) {
        const Vec<double> x = load(column + v * W);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) sum[r][v] += x * rows[r * depth + k];
      }
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < vectors_at_once; ++v) store(out + r * most + first + v * W, sum[r][v]);
  }
}

void multiply(const double* rows, index_t n_rows, index_t depth, const double* columns, double* out) {
  index_t i = 0;
  for (; i + rows_at_once <= n_rows; i += rows_at_once)
    multiply_rows<rows_at_once>(rows + i * depth, depth, columns, out + i * PrincipalAxes::most);
  for (; i < n_rows; ++i) multiply_rows<1>(rows + i * depth, depth, columns, out + i * PrincipalAxes::most);
}

double inner(const double* a, const double* b, index_t n) {
  constexpr int W = lanes<double>, n_sums = 4;  // four sums hide the latency
  constexpr index_t step = n_sums * W;
  const index_t whole = n / step * step;
  Vec<double> sum[n_sums] = {};
  for (index_t i = 0; i < whole; i += step)
    for (int v = 0; v < n_sums; ++v) sum[v] += load_unaligned(a + i + v * W) * load_unaligned(b + i + v * W);
  return std::inner_product(a + whole, a + n, b + whole, sum_of_lanes<double>((sum[0] + sum[1]) + (sum[2] + sum[3])));
}
double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return inner(a.data(), b.data(), length(a));
}
void add(std::vector<double>& to, double factor, const std::vector<double>& x) {
  for (index_t i = 0; i < length(to); ++i) to[i] += factor * x[i];
}

// Orthonormalizes by Gram-Schmidt, repeated because of rounding. A vector that depends on earlier vectors is replaced
// by the axis of the first feature that does not.
void orthonormalize(Vectors& vectors) {
  for (index_t j = 0; j < length(vectors); ++j) {
    std::vector<double>& v = vectors[j];
    for (index_t feature = 0;; ++feature) {
      const double norm = std::sqrt(inner(v, v));
      if (norm > 0)
        for (double& x : v) x /= norm;
      for (int pass = 0; pass < 2; ++pass)
        for (index_t i = 0; i < j; ++i) add(v, -inner(v, vectors[i]), vectors[i]);
      const double left = std::sqrt(inner(v, v));
      if (left > 1e-3) {
        for (double& x : v) x /= left;
        for (index_t i = 0; i < j; ++i) add(v, -inner(v, vectors[i]), vectors[i]);
        break;
      }
      std::fill(v.begin(), v.end(), 0.0);
      v[feature] = 1;
    }
  }
}

// Centers and scales a point. Far coordinates are clamped, so that the norm fits into a float. Clamping never increases
// a distance.
template <class T>
void center(const T* x, const Geometry& geometry, double* to) {
  const double limit = std::min(geometry.limit, 1e15), inverse = 1 / geometry.scale;
  const auto d = length(geometry.center);
  bool beyond = false;
  for (index_t k = 0; k < d; ++k) {
    const double scaled = x[k] * inverse;
    beyond |= std::abs(scaled) > geometry.limit;
    to[k] = std::min(std::max(scaled - geometry.center[k], -limit), limit);
  }
  for (index_t k = 0; beyond && k < d; ++k)
    to[k] = std::min(std::max(geometry.placed(x[k], k) - geometry.center[k], -limit), limit);
}

}  // namespace

template <class T>
PrincipalAxes PrincipalAxes::of(MatrixView<T> points, const Geometry& geometry, index_t n_axes) {
  const index_t d = points.cols, n = std::min(points.rows, sample_rows);
  PrincipalAxes result;
  result.d_ = d;
  result.n_axes_ = std::min({n_axes, most, d});

  // The centered sample and its transpose.
  AlignedVector<double> sample(n * d), transposed(sample.size());
  std::vector<double> mean(d, 0.0), spread(mean);
  for (index_t i = 0; i < n; ++i) {
    double* x = sample.data() + i * d;
    center(points.row(i * points.rows / n), geometry, x);
    for (index_t k = 0; k < d; ++k) mean[k] += x[k] / static_cast<double>(n);
  }
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < d; ++k) {
      double& x = sample[i * d + k];
      x -= mean[k];
      spread[k] += x * x;
      transposed[k * n + i] = x;
    }

  // Orthogonal iteration. It starts from the axes of the features with the largest spread, in decreasing order.
  std::vector<index_t> order(d);
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return spread[a] > spread[b]; });
  result.axes_.assign(d * most, 0.0);
  for (index_t j = 0; j < result.n_axes_; ++j) result.axes_[order[j] * most + j] = 1;
  Vectors axes(result.n_axes_, std::vector<double>(d));
  AlignedVector<double> along(n * most);
  for (int round = 0; round < rounds; ++round) {
    multiply(sample.data(), n, d, result.axes_.data(), along.data());
    multiply(transposed.data(), d, n, along.data(), result.axes_.data());
    for (index_t j = 0; j < result.n_axes_; ++j)
      for (index_t k = 0; k < d; ++k) axes[j][k] = result.axes_[k * most + j];
    orthonormalize(axes);
    for (index_t j = 0; j < result.n_axes_; ++j)
      for (index_t k = 0; k < d; ++k) result.axes_[k * most + j] = axes[j][k];
  }
  return result;
}

template <class T>
AlignedVector<float> PrincipalAxes::coordinates(MatrixView<T> points, const Geometry& geometry,
                                                const Execution& execution) const {
  constexpr index_t rows_a_chunk = 1024;
  const index_t width = n_coordinates();
  AlignedVector<float> all(points.rows * width);
  for_each_chunk((points.rows + rows_a_chunk - 1) / rows_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    AlignedVector<double> x(rows_at_once * d_), along(rows_at_once * most);
    const index_t last = std::min((chunk + 1) * rows_a_chunk, points.rows);
    for (index_t first = chunk * rows_a_chunk; first < last; first += rows_at_once) {
      const index_t n = std::min<index_t>(rows_at_once, last - first);
      for (index_t i = 0; i < n; ++i) center(points.row(first + i), geometry, x.data() + i * d_);
      multiply(x.data(), n, d_, axes_.data(), along.data());
      for (index_t i = 0; i < n; ++i) {
        const double *of_point = x.data() + i * d_, *found = along.data() + i * most;
        float* to = all.data() + (first + i) * width;
        if (width > n_axes_)
          *to++ =
              static_cast<float>(std::sqrt(std::max(0.0, inner(of_point, of_point, d_) - inner(found, found, most))));
        for (index_t j = 0; j < n_axes_; ++j) to[j] = static_cast<float>(found[j]);
      }
    }
  });
  return all;
}

template PrincipalAxes PrincipalAxes::of(MatrixView<float>, const Geometry&, index_t);
template PrincipalAxes PrincipalAxes::of(MatrixView<double>, const Geometry&, index_t);
template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<float>, const Geometry&, const Execution&) const;
template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<double>, const Geometry&, const Execution&) const;

}  // namespace spectralcls
