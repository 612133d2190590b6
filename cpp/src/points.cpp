#include "spectralcls/points.hpp"

#include <algorithm>
#include <cmath>

namespace spectralcls {
namespace {

double power_of_two_at_least(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);  // x = mantissa 2^exponent, mantissa in [1/2, 1)
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

template <class T>
Geometry Geometry::of(MatrixView<T> points, double smallest_bandwidth) {
  const index_t d = points.cols;
  Geometry geometry;
  geometry.centre.assign(static_cast<std::size_t>(d), 0.0);
  for (index_t i = 0; i < points.rows; ++i)
    for (index_t k = 0; k < d; ++k) geometry.centre[k] += points.row(i)[k] / static_cast<double>(points.rows);

  double radius = 0, offset = 0;
  for (index_t i = 0; i < points.rows; ++i)
    for (index_t k = 0; k < d; ++k) radius = std::max(radius, std::abs(points.row(i)[k] - geometry.centre[k]));
  for (const double c : geometry.centre) offset = std::max(offset, std::abs(c));
  // Points that differ by less than the dtype resolves are one point: the unit is then the offset's resolution.
  radius = std::max(radius, offset * std::numeric_limits<T>::epsilon() / 2);
  constexpr double smallest_unit = 0x1p-1000;  // its reciprocal is still finite
  geometry.unit = std::max(smallest_unit, power_of_two_at_least(radius > 0 ? radius : smallest_bandwidth));
  geometry.limit = (sizeof(T) == 4 ? 1e18 : 1e150) / std::sqrt(static_cast<double>(std::max<index_t>(d, 1)));
  return geometry;
}
template Geometry Geometry::of(MatrixView<float>, double);
template Geometry Geometry::of(MatrixView<double>, double);

template <class T>
void order_by_locality(MatrixView<T> points, std::vector<index_t>& rows, index_t begin, index_t end, index_t leaf) {
  if (end - begin <= leaf) return;
  index_t widest = 0;
  T width = -1;
  for (index_t k = 0; k < points.cols; ++k) {
    T low = points.row(rows[begin])[k], high = low;
    for (index_t i = begin + 1; i < end; ++i) {
      const T value = points.row(rows[i])[k];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (high - low > width) {
      width = high - low;
      widest = k;
    }
  }
  // Split at a multiple of the leaf size, so that all leaves but the last are full.
  const index_t half = begin + ((end - begin + leaf - 1) / leaf + 1) / 2 * leaf;
  std::nth_element(rows.begin() + begin, rows.begin() + half, rows.begin() + end, [&](index_t a, index_t b) {
    const T x = points.row(a)[widest], y = points.row(b)[widest];
    return x < y || (x == y && a < b);
  });
  order_by_locality(points, rows, begin, half, leaf);
  order_by_locality(points, rows, half, end, leaf);
}
template void order_by_locality(MatrixView<float>, std::vector<index_t>&, index_t, index_t, index_t);
template void order_by_locality(MatrixView<double>, std::vector<index_t>&, index_t, index_t, index_t);

template <class T>
PackedPoints<T>::PackedPoints(MatrixView<T> points, const Geometry& geometry, const std::int64_t* labels,
                              int n_segments, bool with_product, bool with_difference, bool by_locality)
    : d_(points.cols) {
  constexpr int W = lanes<T>;
  std::vector<std::vector<index_t>> members(static_cast<std::size_t>(n_segments));
  for (index_t i = 0; i < points.rows; ++i) {
    const std::int64_t label = labels ? labels[i] : 0;
    if (label >= 0) members[static_cast<std::size_t>(label)].push_back(i);
  }
  for (int segment = 0; segment < n_segments; ++segment) {
    auto& rows = members[static_cast<std::size_t>(segment)];
    const auto size = static_cast<index_t>(rows.size());
    if (by_locality) order_by_locality(points, rows, 0, size, static_cast<index_t>(tile_width<T>));
    for (index_t begin = 0; begin < size; begin += tile_width<T>) {
      const index_t columns = std::min<index_t>(tile_width<T>, size - begin);
      const int n_vectors = static_cast<int>((columns + W - 1) / W);
      tiles_.push_back({n_columns(), n_vectors, segment, 0.0});
      source_.insert(source_.end(), rows.begin() + begin, rows.begin() + begin + columns);
      source_.insert(source_.end(), static_cast<std::size_t>(n_vectors * W - columns), index_t{-1});
    }
    std::vector<index_t>().swap(rows);
  }
  if (by_locality) boxes_.resize(tiles_.size() * 2 * static_cast<std::size_t>(d_));
  pack_columns(points, geometry, with_product, with_difference);
}

template <class T>
void PackedPoints<T>::pack_columns(MatrixView<T> points, const Geometry& geometry, bool with_product,
                                   bool with_difference) {
  constexpr int W = lanes<T>;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const double scale = 1 / geometry.unit;
  norms_.resize(source_.size());
  if (with_product) centred_.resize(source_.size() * static_cast<std::size_t>(d_));
  if (with_difference) raw_.resize(source_.size() * static_cast<std::size_t>(d_));

  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    Tile& tile = tiles_[t];
    T* box = boxes_.empty() ? nullptr : boxes_.data() + t * 2 * d_;
    if (box) {
      std::fill(box, box + d_, infinity);
      std::fill(box + d_, box + 2 * d_, -infinity);
    }
    for (int v = 0; v < tile.n_vectors; v += panel_vectors) {
      const int width = std::min(panel_vectors, tile.n_vectors - v) * W;
      const index_t panel_first = tile.first + v * W;
      for (int j = 0; j < width; ++j) {
        const index_t row = source_[panel_first + j];
        double norm = 0;
        for (index_t k = 0; k < d_; ++k) {
          const index_t at = panel_first * d_ + k * width + j;
          // Norms are those of the rounded coordinates, so that the product form is a distance of real points.
          const T x = row < 0 ? T(0) : static_cast<T>((points.row(row)[k] - geometry.centre[k]) * scale);
          norm += static_cast<double>(x) * x;
          if (with_product) centred_[at] = x;
          if (with_difference) raw_[at] = row < 0 ? infinity : static_cast<T>(points.row(row)[k] * scale);
          if (box && row >= 0) {
            box[k] = std::min(box[k], x);
            box[d_ + k] = std::max(box[d_ + k], x);
          }
        }
        norms_[panel_first + j] = row < 0 ? infinity : static_cast<T>(norm);
        if (row >= 0) tile.largest_norm = std::max(tile.largest_norm, norm);
      }
    }
    largest_norm_ = std::max(largest_norm_, tile.largest_norm);
  }
}

template class PackedPoints<float>;
template class PackedPoints<double>;

template <class T>
void PackedQueries<T>::pack(MatrixView<T> queries, const index_t* rows, index_t n_rows, const Geometry& geometry) {
  d = queries.cols;
  n_blocks = (n_rows + tile_rows - 1) / tile_rows;
  const auto size = static_cast<std::size_t>(n_blocks * tile_rows);
  centred.resize(size * static_cast<std::size_t>(d));
  raw.resize(size * static_cast<std::size_t>(d));
  norms.resize(size);
  largest_norm.assign(static_cast<std::size_t>(n_blocks), 0.0);
  const double scale = 1 / geometry.unit;
  for (index_t i = 0; i < n_blocks * tile_rows; ++i) {
    const index_t row = rows[std::min(i, n_rows - 1)];
    const index_t b = i / tile_rows, r = i % tile_rows;
    double norm = 0;
    for (index_t k = 0; k < d; ++k) {
      const double value = queries.row(row)[k], centre = geometry.centre[k];
      const double offset = std::clamp((value - centre) * scale, -geometry.limit, geometry.limit);
      const bool clamped = std::abs(offset) == geometry.limit;
      const T x = static_cast<T>(offset);
      const index_t at = (b * d + k) * tile_rows + r;
      centred[at] = -2 * x;
      raw[at] = static_cast<T>(clamped ? centre * scale + offset : value * scale);
      norm += static_cast<double>(x) * x;
    }
    norms[i] = static_cast<T>(norm);
    largest_norm[b] = std::max(largest_norm[b], norm);
  }
}

template struct PackedQueries<float>;
template struct PackedQueries<double>;

}  // namespace spectralcls
