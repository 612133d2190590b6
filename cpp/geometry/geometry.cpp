#include "geometry/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace spectralcls {
namespace {

constexpr index_t rows_a_chunk = 4096;  // each chunk has separate sums

double power_of_two_at_least(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);  // x = mantissa 2^exponent, mantissa in [1/2, 1)
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

template <class T>
index_t n_chunks(MatrixView<T> points) {
  return (points.rows + rows_a_chunk - 1) / rows_a_chunk;
}

// The mean, the least and the largest value of each column.
template <class T>
struct Columns {
  std::vector<double> mean;
  std::vector<T> low, high;

  Columns(MatrixView<T> points, const Execution& execution) {
    // Rows of few features are read several at a time, as one row of that many columns.
    constexpr index_t enough = 32;
    const index_t d = points.cols, width = std::max(d, enough / std::max<index_t>(d, 1) * d);
    struct Part {
      std::vector<double> sum;
      std::vector<T> low, high;
    };
    std::vector<T> first(width);
    for (index_t k = 0; k < width; ++k) first[k] = points.data[k % d];
    const double share = 1 / static_cast<double>(points.rows);
    std::vector<Part> parts(n_chunks(points), {std::vector<double>(width, 0.0), first, first});
    for_each_chunk(length(parts), execution, [&](index_t chunk, Checkpoint&) {
      double* sum = parts[chunk].sum.data();
      T *least = parts[chunk].low.data(), *most = parts[chunk].high.data();
      const T *x = points.row(chunk * rows_a_chunk),
              *end = points.row(std::min((chunk + 1) * rows_a_chunk, points.rows));
      for (; x < end; x += width)
        for (index_t k = 0, n = std::min<index_t>(width, end - x); k < n; ++k) {
          sum[k] += x[k] * share;
          least[k] = x[k] < least[k] ? x[k] : least[k];
          most[k] = x[k] > most[k] ? x[k] : most[k];
        }
    });
    mean.assign(d, 0.0);
    low = high = {first.begin(), first.begin() + d};
    for (const Part& part : parts)
      for (index_t k = 0; k < width; ++k) {
        mean[k % d] += part.sum[k];
        low[k % d] = std::min(low[k % d], part.low[k]);
        high[k % d] = std::max(high[k % d], part.high[k]);
      }
    // The mean of a constant column is its value, without rounding.
    for (index_t k = 0; k < d; ++k) mean[k] = std::clamp<double>(mean[k], low[k], high[k]);
  }

  // Returns the largest distance of a coordinate from a center, halved so that it does not overflow.
  double half_radius(const std::vector<double>& center) const {
    double radius = 0;
    for (index_t k = 0; k < length(center); ++k)
      radius = std::max({radius, high[k] / 2.0 - center[k] / 2, center[k] / 2 - low[k] / 2.0});
    return radius;
  }
};

// Returns an order of magnitude of the distances of near points, in the maximum norm, from a sample. It needs no
// majority: some of the points suffice. Returns zero if all sampled points are equal.
template <class T>
double typical_distance(MatrixView<T> points) {
  // The samples are small, because only the order of magnitude matters.
  constexpr index_t most_pivots = 5, most_points = 32, of_nearest = 8;
  const index_t n_pivots = std::min(most_pivots, points.rows), n = std::min(most_points, points.rows);
  double least = 0;
  std::vector<double> distances;
  for (index_t p = 0; p < n_pivots; ++p) {
    const T* pivot = points.row(p * points.rows / n_pivots);
    distances.clear();
    for (index_t i = 0; i < n; ++i) {
      const T* x = points.row(i * points.rows / n);
      double half = 0;
      for (index_t k = 0; k < points.cols; ++k) half = std::max(half, std::abs(x[k] / 2.0 - pivot[k] / 2.0));
      if (half > 0) distances.push_back(half);
    }
    if (distances.empty()) continue;
    const auto near = distances.begin() + length(distances) / of_nearest;
    std::nth_element(distances.begin(), near, distances.end());
    least = least > 0 ? std::min(least, *near) : *near;
  }
  return 2 * least;
}

}  // namespace

template <class T>
double crowded_value(MatrixView<T> points, index_t k, index_t most, double width) {
  const index_t n = std::min(points.rows, most);
  std::vector<double> sorted(n);
  for (index_t i = 0; i < n; ++i) sorted[i] = points.row(i * points.rows / n)[k];
  std::sort(sorted.begin(), sorted.end());
  index_t best_begin = 0, best_end = 0, most_different = 0, different = 0;
  for (index_t begin = 0, end = 0; begin < n;) {
    for (; end < n && sorted[end] - sorted[begin] <= width; ++end)
      different += end == 0 || sorted[end] != sorted[end - 1];
    const bool nearer_zero = std::abs(sorted[begin]) < std::abs(sorted[best_begin]);
    if (different > most_different || (different == most_different && nearer_zero)) {
      most_different = different;
      best_begin = begin;
      best_end = end;
    }
    const double value = sorted[begin];
    while (begin < n && sorted[begin] == value) ++begin;
    --different;
  }
  return sorted[(best_begin + best_end - 1) / 2];
}

double Geometry::placed(double x, index_t k) const {
  const double scaled = x / scale;
  if (std::abs(scaled) <= limit) return scaled;
  double share = 0;
  if (!far.empty()) {
    // Counts outwards from zero: the values of the points have odd numbers, the numbers between them are even.
    const auto first = far[k].begin(), last = far[k].end(), zero = std::lower_bound(first, last, 0.0),
               at = std::lower_bound(first, last, x);
    const bool is_value = at != last && *at == x;
    share = static_cast<double>(x > 0 ? 2 * (at - zero) + is_value : 2 * (zero - at) - is_value) /
            static_cast<double>(2 * (last - first) + 1);
  }
  return std::copysign(limit * (1 + share), x);
}

template <class T>
Geometry Geometry::of(MatrixView<T> points, const Lengths& lengths, const Execution& execution) {
  const index_t d = points.cols;
  const Columns<T> columns(points, execution);
  Geometry geometry;
  geometry.center = columns.mean;
  double half_radius = columns.half_radius(geometry.center), least = lengths.least;
  // Far points must not move the center: no norm would be small, and no distance could be computed from products.
  constexpr double far = 0x1p30, least_share = 0x1p-16;
  constexpr index_t sample = 65;
  if (half_radius > far * lengths.largest) {
    const double typical = typical_distance(points), width = far * std::max(typical, lengths.largest);
    if (least == 0) least = least_share * typical;
    if (width > 0 && half_radius > width) {
      for (index_t k = 0; k < d; ++k) geometry.center[k] = crowded_value(points, k, sample, width);
      half_radius = columns.half_radius(geometry.center);
    }
  }
  constexpr double smallest_scale = 0x1p-1000, largest_scale = 0x1p1000;  // reciprocals are finite
  const double most = least > 0 ? std::max(most_scales<T> * least, lengths.largest) : largest_scale;
  geometry.scale = power_of_two_at_least(
      2 * std::clamp(std::clamp(half_radius, lengths.largest / 2, most / 2), smallest_scale, largest_scale));
  geometry.limit = (sizeof(T) == 4 ? 5e17 : 5e149) / std::sqrt(static_cast<double>(std::max<index_t>(d, 1)));
  auto beyond = [&](double x) { return std::abs(x / geometry.scale) > geometry.limit; };
  for (index_t k = 0; k < d; ++k) {
    if (beyond(columns.low[k]) || beyond(columns.high[k])) {
      geometry.far.resize(d);
      std::vector<double>& values = geometry.far[k];
      for (index_t i = 0; i < points.rows; ++i)
        if (const double x = points.row(i)[k]; beyond(x) && (values.empty() || values.back() != x)) values.push_back(x);
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }
    geometry.center[k] = geometry.placed(geometry.center[k], k);
  }
  return geometry;
}

template <class T>
double Geometry::largest_norm(MatrixView<T> points, const Execution& execution) const {
  std::vector<double> largest(n_chunks(points), 0.0);
  const double inverse = 1 / scale;
  for_each_chunk(length(largest), execution, [&](index_t chunk, Checkpoint&) {
    for (index_t i = chunk * rows_a_chunk; i < std::min((chunk + 1) * rows_a_chunk, points.rows); ++i) {
      const T* x = points.row(i);
      double norm[8] = {};  // eight sums hide the latency
      auto add = [&](index_t k, int to) {
        const double offset = x[k] * inverse - center[k];
        norm[to] += offset * offset;
      };
      index_t k = 0;
      for (; k + 8 <= points.cols; k += 8)
        for (int to = 0; to < 8; ++to) add(k + to, to);
      for (; k < points.cols; ++k) add(k, static_cast<int>(k % 8));
      largest[chunk] = std::max(
          largest[chunk], ((norm[0] + norm[1]) + (norm[2] + norm[3])) + ((norm[4] + norm[5]) + (norm[6] + norm[7])));
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

#define SPECTRALCLS_INSTANTIATE(T)                                                 \
  template Geometry Geometry::of(MatrixView<T>, const Lengths&, const Execution&); \
  template double Geometry::largest_norm(MatrixView<T>, const Execution&) const;   \
  template double crowded_value(MatrixView<T>, index_t, index_t, double);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
