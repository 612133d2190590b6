// Sums of several columns: the product of a tile of kernel values with the weights of its points.
#pragma once

#include <algorithm>

#include "base/points.hpp"

namespace spectralcls::detail {

// How the sums of a query's columns lie in vectors, and the weights in memory. Few columns: a vector for each, whose
// lanes are partial sums over points. Many: a lane for each, in panels of up to three vectors; a kernel value then meets
// a panel in registers, and no lanes need to be added.
template <class T>
class ColumnLayout {
 public:
  explicit ColumnLayout(index_t n_columns)
      : n_columns_(n_columns),
        n_vectors_((n_columns + lanes<T> - 1) / lanes<T>),
        across_lanes_(5 * n_vectors_ * lanes<T> <= 8 * n_columns) {}  // else too many lanes are idle

  index_t n_columns() const { return n_columns_; }
  index_t n_vectors() const { return across_lanes_ ? n_vectors_ : n_columns_; }
  index_t weights_per_point() const { return across_lanes_ ? n_vectors_ * lanes<T> : n_columns_; }

  // Puts the weights of one point among those of its tile of `width` points.
  void pack(const T* weights, index_t point, index_t width, T* tile) const {
    if (!across_lanes_) {
      for (index_t c = 0; c < n_columns_; ++c) tile[c * width + point] = weights[c];
      return;
    }
    for_each_panel([&](index_t first, index_t size) {
      const index_t begin = first * lanes<T>, end = std::min(begin + size * lanes<T>, n_columns_);
      std::copy(weights + begin, weights + end, tile + begin * width + point * size * lanes<T>);
    });
  }

  // Adds the product of a tile, `n_vectors` vectors of points wide, to n_vectors() vectors of sums for each of its first
  // n_rows rows (and perhaps more); the sums of rows are `stride` vectors apart.
  void add_product(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors, Vec<T>* sums, index_t stride) const {
    if (!across_lanes_) add_along(values, n_rows, weights, n_vectors, sums, stride);
    else if (n_rows == 1) add_across<1>(values, weights, n_vectors * lanes<T>, sums, stride);
    else add_across<tile_rows>(values, weights, n_vectors * lanes<T>, sums, stride);
  }

  // The same for one row of values.
  void add_row(const T* values, const T* weights, int n_vectors, Vec<T>* sums) const {
    if (!across_lanes_) {
      for (index_t c = 0; c < n_columns_; ++c)
        for (int v = 0; v < n_vectors; ++v, weights += lanes<T>) sums[c] += load(values + v * lanes<T>) * load(weights);
      return;
    }
    for_each_panel([&](index_t first, index_t size) {
      for (int j = 0; j < n_vectors * lanes<T>; ++j)
        for (index_t p = 0; p < size; ++p, weights += lanes<T>) sums[first + p] += load(weights) * values[j];
    });
  }

  // Adds one row's vectors of sums to a number for each column.
  void reduce(const Vec<T>* sums, double* totals) const {
    for (index_t c = 0; c < n_columns_; ++c)
      totals[c] += across_lanes_ ? static_cast<double>(sums[c / lanes<T>][c % lanes<T>]) : sum_of_lanes<T>(sums[c]);
  }

 private:
  // A vector of sums for each column: a register block of `Rows` rows and `Columns` columns.
  template <int Rows, int Columns>
  static void add_along(const TileBuffer<T>& values, int row, const T* weights, int n_vectors, Vec<T>* sums,
                        index_t stride) {
    Vec<T> sum[Rows][Columns];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int c = 0; c < Columns; ++c) sum[r][c] = sums[r * stride + c];
    for (int v = 0; v < n_vectors; ++v) {
      Vec<T> w[Columns];
#pragma GCC unroll 4
      for (int c = 0; c < Columns; ++c) w[c] = load(weights + (c * n_vectors + v) * lanes<T>);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        const Vec<T> k = load(values.value[row + r] + v * lanes<T>);
#pragma GCC unroll 4
        for (int c = 0; c < Columns; ++c) sum[r][c] += k * w[c];
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int c = 0; c < Columns; ++c) sums[r * stride + c] = sum[r][c];
  }

  void add_along(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors, Vec<T>* sums, index_t stride) const {
    constexpr int Rows = n_vector_registers == 32 ? 4 : 2;
    for (int r = 0; r < n_rows; r += Rows) {
      Vec<T>* s = sums + r * stride;
      const T* w = weights;
      index_t left = n_columns_;
      for (; left >= 4; left -= 4, s += 4, w += 4 * n_vectors * lanes<T>)
        add_along<Rows, 4>(values, r, w, n_vectors, s, stride);
      if (left == 3) add_along<Rows, 3>(values, r, w, n_vectors, s, stride);
      if (left == 2) add_along<Rows, 2>(values, r, w, n_vectors, s, stride);
      if (left == 1) add_along<Rows, 1>(values, r, w, n_vectors, s, stride);
    }
  }

  // A lane for each column of a panel, all rows. The tile's own sums start at zero and are added at its end: two short
  // chains of additions instead of a long one.
  template <int Rows, int Panel>
  static void add_across_panel(const TileBuffer<T>& values, const T* weights, int n_points, Vec<T>* sums, index_t stride) {
    Vec<T> sum[Rows][Panel] = {};
    for (int j = 0; j < n_points; ++j) {
      Vec<T> w[Panel];
#pragma GCC unroll 3
      for (int p = 0; p < Panel; ++p) w[p] = load(weights + (j * Panel + p) * lanes<T>);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const T k = values.value[r][j];
#pragma GCC unroll 3
        for (int p = 0; p < Panel; ++p) sum[r][p] += w[p] * k;
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int p = 0; p < Panel; ++p) sums[r * stride + p] += sum[r][p];
  }

  template <int Rows>
  void add_across(const TileBuffer<T>& values, const T* weights, int n_points, Vec<T>* sums, index_t stride) const {
    for_each_panel([&](index_t first, index_t size) {
      const T* w = weights + first * n_points * lanes<T>;
      if (size == 3) add_across_panel<Rows, 3>(values, w, n_points, sums + first, stride);
      if (size == 2) add_across_panel<Rows, 2>(values, w, n_points, sums + first, stride);
      if (size == 1) add_across_panel<Rows, 1>(values, w, n_points, sums + first, stride);
    });
  }

  // Calls body(first vector, number of vectors): three, but rather two and two than three and one.
  template <class Body>
  void for_each_panel(Body&& body) const {
    for (index_t first = 0; first < n_vectors_;) {
      const index_t left = n_vectors_ - first, size = left == 4 ? 2 : std::min<index_t>(left, 3);
      body(first, size);
      first += size;
    }
  }

  index_t n_columns_, n_vectors_;
  bool across_lanes_;
};

}  // namespace spectralcls::detail
