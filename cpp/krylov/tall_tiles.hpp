// The two products of multivectors for one chunk of rows, with a few columns of both factors in registers. A general
// matrix product would spend most of its time packing columns that are read only once.
#pragma once

#include <type_traits>

#include "infrastructure/matrix.hpp"
#include "infrastructure/simd.hpp"

namespace spectralcls::detail {

// Tiles have 4 x 4 or 2 x 2 columns, so their sums fill at most half of the registers.
constexpr int tile_columns = n_vector_registers == 32 ? 4 : 2;

// Calls body(first column, number of columns as a constant) for groups of up to tile_columns columns.
template <class Body>
inline void for_each_column_tile(index_t columns, Body&& body) {
  index_t first = 0;
  for (; first + tile_columns <= columns; first += tile_columns)
    body(first, std::integral_constant<int, tile_columns>{});
  const index_t left = columns - first;
  if (left == 1) body(first, std::integral_constant<int, 1>{});
  if constexpr (tile_columns > 2) {
    if (left == 2) body(first, std::integral_constant<int, 2>{});
    if (left == 3) body(first, std::integral_constant<int, 3>{});
  }
}

template <int I, int J, class T>
inline void inner_tile(const Multivector<const T>& left, const Multivector<const T>& right, index_t count, double* out,
                       index_t stride) {
  constexpr int W = lanes<T>;
  Vec<T> sums[I][J] = {};
  index_t r = 0;
  for (; r + W <= count; r += W) {
    Vec<T> x[J];
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) x[j] = load_unaligned(right.data + j * right.rows + r);
#pragma GCC unroll 4
    for (int i = 0; i < I; ++i) {
      const Vec<T> v = load_unaligned(left.data + i * left.rows + r);
#pragma GCC unroll 4
      for (int j = 0; j < J; ++j) sums[i][j] += v * x[j];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < I; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) {
      double sum = sum_of_lanes<T>(sums[i][j]);
      for (index_t t = r; t < count; ++t)
        sum += static_cast<double>(left.data[i * left.rows + t]) * static_cast<double>(right.data[j * right.rows + t]);
      out[j * stride + i] = sum;
    }
}

template <int I, int J, class T>
inline void add_product_tile(const Multivector<const T>& left, const T* coefficients, index_t stride,
                             const Multivector<T>& to, index_t count) {
  constexpr int W = lanes<T>;
  index_t r = 0;
  for (; r + W <= count; r += W) {
    Vec<T> sums[J];
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) sums[j] = load_unaligned(to.data + j * to.rows + r);
#pragma GCC unroll 4
    for (int i = 0; i < I; ++i) {
      const Vec<T> v = load_unaligned(left.data + i * left.rows + r);
#pragma GCC unroll 4
      for (int j = 0; j < J; ++j) sums[j] += v * coefficients[j * stride + i];
    }
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) store_unaligned(to.data + j * to.rows + r, sums[j]);
  }
  for (; r < count; ++r)
    for (int j = 0; j < J; ++j)
      for (int i = 0; i < I; ++i)
        to.data[j * to.rows + r] += left.data[i * left.rows + r] * coefficients[j * stride + i];
}

// out (left.columns x right.columns, column-major) = left^T right over the first `count` rows.
template <class T>
void inner_of_rows(const Multivector<const T>& left, const Multivector<const T>& right, index_t count, double* out) {
  for_each_column_tile(right.columns, [&](index_t j, auto J) {
    for_each_column_tile(left.columns, [&](index_t i, auto I) {
      inner_tile<I(), J(), T>(left.middle(i, I()), right.middle(j, J()), count, out + j * left.columns + i,
                              left.columns);
    });
  });
}

// to += left * coefficients (left.columns x to.columns, column-major) over the first `count` rows.
template <class T>
void add_product_of_rows(const Multivector<const T>& left, const T* coefficients, const Multivector<T>& to,
                         index_t count) {
  for_each_column_tile(to.columns, [&](index_t j, auto J) {
    for_each_column_tile(left.columns, [&](index_t i, auto I) {
      add_product_tile<I(), J(), T>(left.middle(i, I()), coefficients + j * left.columns + i, left.columns,
                                    to.middle(j, J()), count);
    });
  });
}

}  // namespace spectralcls::detail
