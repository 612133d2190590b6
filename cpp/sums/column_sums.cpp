#include "sums/column_sums.hpp"

namespace spectralcls::detail {
namespace {

// Each vector sums one column, in a register block of `Rows` rows and `Columns` columns.
template <int Rows, int Columns, class T>
void add_block(const TileBuffer<T>& values, int row, const T* weights, int n_vectors, Vec<T>* sums, index_t stride) {
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

// Each lane sums one column of a panel, for all rows. The sums of a tile start at zero and are added to the totals at
// its end, so a long chain of additions becomes two short ones.
template <int Rows, int Panel, class T>
void add_across_panel(const TileBuffer<T>& values, const T* weights, int n_points, Vec<T>* sums, index_t stride) {
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

}  // namespace

template <class T>
void ColumnLayout<T>::add_along(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors,
                                Vec<T>* sums, index_t stride) const {
  constexpr int Rows = n_vector_registers == 32 ? 4 : 2;
  for (int r = 0; r < n_rows; r += Rows) {
    Vec<T>* s = sums + r * stride;
    const T* w = weights;
    index_t left = n_columns_;
    for (; left >= 4; left -= 4, s += 4, w += 4 * n_vectors * lanes<T>)
      add_block<Rows, 4>(values, r, w, n_vectors, s, stride);
    if (left == 3) add_block<Rows, 3>(values, r, w, n_vectors, s, stride);
    if (left == 2) add_block<Rows, 2>(values, r, w, n_vectors, s, stride);
    if (left == 1) add_block<Rows, 1>(values, r, w, n_vectors, s, stride);
  }
}

template <class T>
template <int Rows>
void ColumnLayout<T>::add_across(const TileBuffer<T>& values, const T* weights, int n_points, Vec<T>* sums,
                                 index_t stride) const {
  for_each_panel([&](index_t first, index_t size) {
    const T* w = weights + first * n_points * lanes<T>;
    if (size == 3) add_across_panel<Rows, 3>(values, w, n_points, sums + first, stride);
    if (size == 2) add_across_panel<Rows, 2>(values, w, n_points, sums + first, stride);
    if (size == 1) add_across_panel<Rows, 1>(values, w, n_points, sums + first, stride);
  });
}

template <class T>
void ColumnLayout<T>::add_product(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors,
                                  Vec<T>* sums, index_t stride) const {
  if (!across_lanes_) add_along(values, n_rows, weights, n_vectors, sums, stride);
  else if (n_rows == 1) add_across<1>(values, weights, n_vectors * lanes<T>, sums, stride);
  else add_across<tile_rows>(values, weights, n_vectors * lanes<T>, sums, stride);
}

template <class T>
void ColumnLayout<T>::add_row(const T* values, const T* weights, int n_vectors, Vec<T>* sums) const {
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

template class ColumnLayout<float>;
template class ColumnLayout<double>;

}  // namespace spectralcls::detail
