#include "geometry/distance_tile.hpp"

#include <algorithm>
#include <type_traits>

namespace spectralcls {
namespace {

constexpr int prefetch_ahead = 8;  // in features

// Computes |q|^2 + |x|^2 - 2 q.x for queries q and points x. The coordinates of queries are stored times -2, so each
// feature takes one multiply-add. All sums are in registers.
template <class T, int NV, int Rows>
struct ProductPanel {
  static constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV] = {};

  SPECTRALCLS_INLINE void add(const T* q, const T* x) {
    Vec<T> xk[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) {
      xk[v] = load(x + v * W);
      // The points come from the second-level cache, and the hardware prefetcher alone is too slow.
      __builtin_prefetch(x + (prefetch_ahead * NV + v) * W);
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[r][v] += xk[v] * q[r];
  }
  template <bool First>
  SPECTRALCLS_INLINE void add_norms(const T* q_norms, const T* x_norms) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) {
        const Vec<T> norms = load(x_norms + v * W) + q_norms[r];
        sum[r][v] = First ? norms : sum[r][v] + norms;
      }
  }
};

template <class T, int NV, int Rows>
struct DifferencePanel {
  static constexpr int W = lanes<T>;
  Vec<T> sum[Rows][NV] = {};

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
  template <bool>
  SPECTRALCLS_INLINE void add_norms(const T*, const T*) {}
};

template <bool Add, class T, int NV, int Rows>
SPECTRALCLS_INLINE void store_panel(const Vec<T> (&sum)[Rows][NV], T* out) {
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) {
      T* to = out + r * tile_width<T> + v * lanes<T>;
      store(to, Add ? load(to) + sum[r][v] : sum[r][v]);
    }
}

// Computes the squared distances of a panel. D is the number of features d if d is a compile-time constant, and 0
// otherwise. For few features d is a constant, because a loop would cost as much as its body. `out` holds partial sums
// while the registers sum the next features.
template <class T, int NV, int Rows, int D, template <class, int, int> class Panel>
SPECTRALCLS_INLINE void panel(index_t d, const T* q, const T* q_norms, const T* x, const T* x_norms, T* out) {
  Panel<T, NV, Rows> first;
  if constexpr (D > 0) {
    first.template add_norms<true>(q_norms, x_norms);
#pragma GCC unroll 8
    for (int k = 0; k < D; ++k) first.add(q + k * tile_rows, x + k * NV * lanes<T>);
    store_panel<false>(first.sum, out);
  } else {
    index_t n_more = (d - 1) / summed_in_turn<T>;
    if (n_more == 0) {
      first.template add_norms<true>(q_norms, x_norms);
      for (index_t k = 0; k < d; ++k, x += NV * lanes<T>, q += tile_rows) first.add(q, x);
      return store_panel<false>(first.sum, out);
    }
    for (index_t k = n_more * summed_in_turn<T>; k < d; ++k, x += NV * lanes<T>, q += tile_rows) first.add(q, x);
    first.template add_norms<false>(q_norms, x_norms);  // norms last: small sums have small rounding errors
    store_panel<false>(first.sum, out);
    for (; n_more > 0; --n_more) {
      Panel<T, NV, Rows> part;
#pragma GCC unroll 4
      for (index_t k = 0; k < summed_in_turn<T>; ++k, x += NV * lanes<T>, q += tile_rows) part.add(q, x);
      store_panel<true>(part.sum, out);
    }
  }
}

// Returns whether a panel holds a squared distance below the floor of its row. Reads the sums from memory, because the
// computation of the panel leaves too few registers free.
template <class T, int NV, int Rows>
SPECTRALCLS_INLINE bool any_below(const T* distances, const T* floors) {
  Bits<T> signs{};
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    Vec<T> least = load(distances + r * tile_width<T>);
#pragma GCC unroll 3
    for (int v = 1; v < NV; ++v) least = minimum<T>(least, load(distances + r * tile_width<T> + v * lanes<T>));
    signs |= (Bits<T>)(least - floors[r]);
  }
  return sign_bits<T>(signs) != 0;
}

// Calls body(coordinates, norms, number of vectors as a constant, output) for each panel of a tile.
template <class T, class Body>
SPECTRALCLS_INLINE void for_each_panel(const PackedTiles<T>& points, const Tile& tile, DistanceForm form, T* to,
                                       Body&& body) {
  const T *x = points.coordinates(form, tile), *x_norms = points.norms(tile);
  int left = tile.n_vectors;
  for (; left >= panel_vectors; left -= panel_vectors) {
    body(x, x_norms, std::integral_constant<int, panel_vectors>{}, to);
    x += panel_vectors * lanes<T> * points.dimension();
    x_norms += panel_vectors * lanes<T>;
    to += panel_vectors * lanes<T>;
  }
  if (left == 2) body(x, x_norms, std::integral_constant<int, 2>{}, to);
  if (left == 1) body(x, x_norms, std::integral_constant<int, 1>{}, to);
}

template <class T, int Rows, int D, template <class, int, int> class Panel>
void distances_in(DistanceForm form, const PackedQueries<T>& queries, index_t block, const PackedTiles<T>& points,
                  const Tile& tile, TileBuffer<T>& out) {
  const T *q = queries.block(form, block), *q_norms = queries.block_norms(block);
  for_each_panel<T>(points, tile, form, out.value[0], [&](const T* x, const T* x_norms, auto n, T* to) {
    panel<T, n(), Rows, D, Panel>(points.dimension(), q, q_norms, x, x_norms, to);
  });
}

template <class T, int Rows>
unsigned products_above_of(const PackedQueries<T>& queries, index_t block, const PackedTiles<T>& points,
                           const Tile& tile, const T* floors, TileBuffer<T>& out) {
  const T *q = queries.block(DistanceForm::product, block), *q_norms = queries.block_norms(block);
  unsigned below = 0;
  int n_panels = 0;
  for_each_panel<T>(points, tile, DistanceForm::product, out.value[0],
                    [&](const T* x, const T* x_norms, auto n, T* to) {
                      panel<T, n(), Rows, 0, ProductPanel>(points.dimension(), q, q_norms, x, x_norms, to);
                      below |= unsigned{any_below<T, n(), Rows>(to, floors)} << n_panels++;
                    });
  return below;
}

template <class T, int Rows>
void differences_in_panels_of(const PackedQueries<T>& queries, index_t block, const PackedTiles<T>& points,
                              const Tile& tile, unsigned panels, TileBuffer<T>& out) {
  const T* q = queries.block(DistanceForm::difference, block);
  int place = 0;
  for_each_panel<T>(points, tile, DistanceForm::difference, out.value[0], [&](const T* x, const T*, auto n, T* to) {
    if (panels >> place++ & 1u) panel<T, n(), Rows, 0, DifferencePanel>(points.dimension(), q, nullptr, x, nullptr, to);
  });
}

template <class T, int Rows>
void squared_distances_of(DistanceForm form, const PackedQueries<T>& queries, index_t block,
                          const PackedTiles<T>& points, const Tile& tile, TileBuffer<T>& out) {
  auto compute = [&](auto run) { run(form, queries, block, points, tile, out); };
  const index_t d = points.dimension();
  if (form == DistanceForm::product) {
    if (d == 4) return compute(distances_in<T, Rows, 4, ProductPanel>);
    return compute(distances_in<T, Rows, 0, ProductPanel>);
  }
  if (d == 1) return compute(distances_in<T, Rows, 1, DifferencePanel>);
  if (d == 2) return compute(distances_in<T, Rows, 2, DifferencePanel>);
  if (d == 3) return compute(distances_in<T, Rows, 3, DifferencePanel>);
  if (d == 4) return compute(distances_in<T, Rows, 4, DifferencePanel>);
  return compute(distances_in<T, Rows, 0, DifferencePanel>);
}

}  // namespace

template <class T>
void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block, index_t n_rows,
                       const PackedTiles<T>& points, const Tile& tile, TileBuffer<T>& out) {
  if (n_rows == 1) squared_distances_of<T, 1>(form, queries, block, points, tile, out);
  else squared_distances_of<T, tile_rows>(form, queries, block, points, tile, out);
}

template <class T>
unsigned products_above(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedTiles<T>& points,
                        const Tile& tile, const T* floors, TileBuffer<T>& out) {
  if (n_rows == 1) return products_above_of<T, 1>(queries, block, points, tile, floors, out);
  return products_above_of<T, tile_rows>(queries, block, points, tile, floors, out);
}

template <class T>
void differences_in_panels(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedTiles<T>& points,
                           const Tile& tile, unsigned panels, TileBuffer<T>& out) {
  if (n_rows == 1) return differences_in_panels_of<T, 1>(queries, block, points, tile, panels, out);
  differences_in_panels_of<T, tile_rows>(queries, block, points, tile, panels, out);
}

#define SPECTRALCLS_INSTANTIATE(T)                                                                                   \
  template void squared_distances(DistanceForm, const PackedQueries<T>&, index_t, index_t, const PackedTiles<T>&,    \
                                  const Tile&, TileBuffer<T>&);                                                      \
  template unsigned products_above(const PackedQueries<T>&, index_t, index_t, const PackedTiles<T>&, const Tile&,    \
                                   const T*, TileBuffer<T>&);                                                        \
  template void differences_in_panels(const PackedQueries<T>&, index_t, index_t, const PackedTiles<T>&, const Tile&, \
                                      unsigned, TileBuffer<T>&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
