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
struct ProductPanel {
  static constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV];

  SPECTRALCLS_INLINE ProductPanel(const T* q_norms, const T* x_norms) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[r][v] = load(x_norms + v * W) + q_norms[r];
  }
  SPECTRALCLS_INLINE void add(const T* q, const T* x) {
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
  }
};

template <class T, int NV, int Rows>
struct DifferencePanel {
  static constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV];

  SPECTRALCLS_INLINE DifferencePanel(const T*, const T*) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[r][v] = Vec<T>{};
  }
  SPECTRALCLS_INLINE void add(const T* q, const T* x) {
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
  }
};

// D: the number of features if the compiler is to know it, else 0. With a few of them a loop costs as much as its body.
template <class T, int NV, int Rows, int D, template <class, int, int> class Panel>
SPECTRALCLS_INLINE void panel(index_t d, const T* q, const T* q_norms, const T* x, const T* x_norms, T* out) {
  Panel<T, NV, Rows> distances(q_norms, x_norms);
  if constexpr (D > 0) {
#pragma GCC unroll 8
    for (int k = 0; k < D; ++k) distances.add(q + k * tile_rows, x + k * NV * lanes<T>);
  } else {
    for (index_t k = 0; k < d; ++k, x += NV * lanes<T>, q += tile_rows) distances.add(q, x);
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) store(out + r * tile_width<T> + v * lanes<T>, distances.sum[r][v]);
}

template <class T, int Rows, int D, template <class, int, int> class Panel>
void panels(index_t d, const T* q, const T* q_norms, const T* x, const T* x_norms, int n_vectors, T* to) {
  constexpr int W = lanes<T>;
  int left = n_vectors;
  for (; left >= panel_vectors; left -= panel_vectors) {
    panel<T, panel_vectors, Rows, D, Panel>(d, q, q_norms, x, x_norms, to);
    x += panel_vectors * W * d;
    x_norms += panel_vectors * W;
    to += panel_vectors * W;
  }
  if (left == 2) panel<T, 2, Rows, D, Panel>(d, q, q_norms, x, x_norms, to);
  if (left == 1) panel<T, 1, Rows, D, Panel>(d, q, q_norms, x, x_norms, to);
}

template <class T, int Rows>
inline void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block,
                              const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out) {
  const index_t d = points.dimension();
  const T *q = queries.block(form, block), *q_norms = queries.block_norms(block);
  const T *x = points.coordinates(form, tile), *x_norms = points.norms(tile);
  auto compute = [&](auto run) { run(d, q, q_norms, x, x_norms, tile.n_vectors, &out.value[0][0]); };
  if (form == DistanceForm::product) {
    if (d == 4) return compute(panels<T, Rows, 4, ProductPanel>);
    return compute(panels<T, Rows, 0, ProductPanel>);
  }
  if (d == 1) return compute(panels<T, Rows, 1, DifferencePanel>);
  if (d == 2) return compute(panels<T, Rows, 2, DifferencePanel>);
  if (d == 3) return compute(panels<T, Rows, 3, DifferencePanel>);
  return compute(panels<T, Rows, 0, DifferencePanel>);
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
