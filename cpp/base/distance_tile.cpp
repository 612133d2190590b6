#include "base/distance_tile.hpp"

#include <algorithm>

namespace spectralcls {
namespace {

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
void squared_distances_of(DistanceForm form, const PackedQueries<T>& queries, index_t block,
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

}  // namespace

template <class T>
void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block, index_t n_rows,
                       const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out) {
  if (n_rows == 1) squared_distances_of<T, 1>(form, queries, block, points, tile, out);
  else squared_distances_of<T, tile_rows>(form, queries, block, points, tile, out);
}

template <class T>
void differences_below(const PackedQueries<T>& queries, index_t block, index_t row, const PackedPoints<T>& points,
                       const Tile& tile, T limit, TileBuffer<T>& out) {
  constexpr int W = lanes<T>;
  const index_t d = points.dimension();
  const T *q = queries.block(DistanceForm::difference, block) + row,
          *x = points.coordinates(DistanceForm::difference, tile);
  T* to = out.value[row];
  for (int left = tile.n_vectors; left > 0;) {
    const int n = std::min(left, panel_vectors);
    if (any_less<T>(row_minimum<T>(to, n), broadcast<T>(limit))) {
      if (n == 3) panel<T, 3, 1, 0, DifferencePanel>(d, q, nullptr, x, nullptr, to);
      if (n == 2) panel<T, 2, 1, 0, DifferencePanel>(d, q, nullptr, x, nullptr, to);
      if (n == 1) panel<T, 1, 1, 0, DifferencePanel>(d, q, nullptr, x, nullptr, to);
    }
    left -= n;
    x += n * W * d;
    to += n * W;
  }
}

template void squared_distances(DistanceForm, const PackedQueries<float>&, index_t, index_t, const PackedPoints<float>&,
                                const Tile&, TileBuffer<float>&);
template void squared_distances(DistanceForm, const PackedQueries<double>&, index_t, index_t,
                                const PackedPoints<double>&, const Tile&, TileBuffer<double>&);
template void differences_below(const PackedQueries<float>&, index_t, index_t, const PackedPoints<float>&, const Tile&,
                                float, TileBuffer<float>&);
template void differences_below(const PackedQueries<double>&, index_t, index_t, const PackedPoints<double>&,
                                const Tile&, double, TileBuffer<double>&);

}  // namespace spectralcls
