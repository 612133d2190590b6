// Squared distances between tile_rows queries and one tile of packed points, left in a small buffer.
#pragma once

#include "base/points.hpp"

namespace spectralcls {

template <class T>
struct alignas(64) TileBuffer {
  T value[tile_rows][tile_width<T>];
};

namespace detail {

constexpr int prefetch_ahead = 8;  // features

// |q|^2 + |x|^2 - 2 q.x with q holding -2 q: one multiply-add a feature, all sums in registers.
template <class T, int NV, int Rows>
inline void product_panel(index_t d, const T* q, const T* q_norms, const T* x, const T* x_norms, T* out) {
  constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) sum[r][v] = load(x_norms + v * W) + q_norms[r];
  for (index_t k = 0; k < d; ++k) {
    Vec<T> xk[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) {
      xk[v] = load(x + v * W);
      // The points come from the second-level cache, which the hardware alone does not keep ahead of.
      __builtin_prefetch(x + (prefetch_ahead * NV + v) * W);
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[r][v] += xk[v] * q[r];
    x += NV * W;
    q += tile_rows;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) store(out + r * tile_width<T> + v * W, sum[r][v]);
}

template <class T, int NV, int Rows>
inline void difference_panel(index_t d, const T* q, const T* x, T* out) {
  constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) sum[r][v] = Vec<T>{};
  for (index_t k = 0; k < d; ++k) {
    Vec<T> xk[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) xk[v] = load(x + v * W);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const Vec<T> qk = broadcast<T>(q[r]);
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) {
        const Vec<T> difference = xk[v] - qk;
        sum[r][v] += difference * difference;
      }
    }
    x += NV * W;
    q += tile_rows;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) store(out + r * tile_width<T> + v * W, sum[r][v]);
}

template <class T, int NV, int Rows>
inline void panel(DistanceForm form, index_t d, const T* q, const T* q_norms, const T* x, const T* x_norms, T* out) {
  if (form == DistanceForm::product) product_panel<T, NV, Rows>(d, q, q_norms, x, x_norms, out);
  else difference_panel<T, NV, Rows>(d, q, x, out);
}

template <class T, int Rows>
inline void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block,
                              const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out) {
  constexpr int W = lanes<T>;
  const index_t d = points.dimension();
  const T* q = queries.block(form, block);
  const T* q_norms = queries.block_norms(block);
  const T* x = points.coordinates(form, tile);
  const T* x_norms = points.norms(tile);
  T* to = &out.value[0][0];
  int left = tile.n_vectors;
  for (; left >= panel_vectors; left -= panel_vectors) {
    panel<T, panel_vectors, Rows>(form, d, q, q_norms, x, x_norms, to);
    x += panel_vectors * W * d;
    x_norms += panel_vectors * W;
    to += panel_vectors * W;
  }
  if (left == 2) panel<T, 2, Rows>(form, d, q, q_norms, x, x_norms, to);
  if (left == 1) panel<T, 1, Rows>(form, d, q, q_norms, x, x_norms, to);
}

}  // namespace detail

// Of the first n_rows rows of the block at least: a query that comes alone is not computed several times.
template <class T>
inline void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block, index_t n_rows,
                              const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out) {
  if (n_rows == 1) detail::squared_distances<T, 1>(form, queries, block, points, tile, out);
  else detail::squared_distances<T, tile_rows>(form, queries, block, points, tile, out);
}
template <class T>
inline void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block,
                              const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out) {
  detail::squared_distances<T, tile_rows>(form, queries, block, points, tile, out);
}

// The smallest distance in each lane of one row of a tile.
template <class T>
inline Vec<T> row_minimum(const T* row, int n_vectors) {
  if (n_vectors < tile_vectors) {
    Vec<T> least = load(row);
    for (int v = 1; v < n_vectors; ++v) least = minimum<T>(least, load(row + v * lanes<T>));
    return least;
  }
  Vec<T> least[4];  // four chains: one would wait for itself
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) least[i] = load(row + i * lanes<T>);
#pragma GCC unroll 24
  for (int v = 4; v < tile_vectors; ++v) least[v % 4] = minimum<T>(least[v % 4], load(row + v * lanes<T>));
  return minimum<T>(minimum<T>(least[0], least[1]), minimum<T>(least[2], least[3]));
}

// The largest rate (|q|^2 + |x|^2) at which the product form is accurate enough: its error is a few roundings of
// |q|^2 + |x|^2; times `rate` that is an error of the exponent.
template <class T>
constexpr double largest_exponent = (sizeof(T) == 4 ? 5e-6 : 2e-13) / (std::numeric_limits<T>::epsilon() / 2);

// Whether the product form is accurate enough for this pair of blocks: where that error is small (first test), or where
// one of the norms is so small that the distance itself is of the order of the larger one (second).
template <class T>
inline DistanceForm safe_form(double q_norm, double x_norm, double rate) {
  const double larger = q_norm > x_norm ? q_norm : x_norm, smaller = q_norm > x_norm ? x_norm : q_norm;
  return rate * (larger + smaller) <= largest_exponent<T> || rate * smaller <= largest_exponent<T> / 8
             ? DistanceForm::product
             : DistanceForm::difference;
}

// Whether no pair of blocks needs differences, by the first test; for the largest norms of all.
template <class T>
bool product_suffices(double q_norm, double x_norm, double rate) {
  return 1.01 * rate * (q_norm + x_norm) <= largest_exponent<T>;
}

}  // namespace spectralcls
