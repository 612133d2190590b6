// Squared distances between tile_rows queries and one tile of packed points, in a small buffer.
#pragma once

#include "geometry/points.hpp"

namespace spectralcls {

template <class T>
struct alignas(64) TileBuffer {
  T value[tile_rows][tile_width<T>];
};

// The number of features that are summed in sequence. Equal terms, such as those of copied features, are rounded alike,
// so the error grows with the number of terms. Longer sums are therefore split into partial sums of this length. In
// float64, longer partial sums are accurate enough.
template <class T>
constexpr index_t summed_in_turn = sizeof(T) == 4 ? 32 : 64;

// Computes the squared distances of the first n_rows rows of the block. The padding rows are computed too, unless
// n_rows is 1.
template <class T>
void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block, index_t n_rows,
                       const PackedTiles<T>& points, const Tile& tile, TileBuffer<T>& out);

// Computes squared distances in the product form, which is too inaccurate below the floor of a row. Sets a bit of the
// result for each panel that holds a squared distance below the floor of its row. The test costs about one minimum for
// each vector.
template <class T>
unsigned products_above(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedTiles<T>& points,
                        const Tile& tile, const T* floors, TileBuffer<T>& out);

// Computes squared distances in the difference form, in the panels whose bits are set.
template <class T>
void differences_in_panels(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedTiles<T>& points,
                           const Tile& tile, unsigned panels, TileBuffer<T>& out);

// Returns, for each lane, the smallest squared distance in one row of a tile.
template <class T>
inline Vec<T> row_minimum(const T* row, int n_vectors) {
  if (n_vectors < tile_vectors) {
    Vec<T> least = load(row);
    for (int v = 1; v < n_vectors; ++v) least = minimum<T>(least, load(row + v * lanes<T>));
    return least;
  }
  Vec<T> least[4];  // four accumulators hide the latency
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) least[i] = load(row + i * lanes<T>);
#pragma GCC unroll 24
  for (int v = 4; v < tile_vectors; ++v) least[v % 4] = minimum<T>(least[v % 4], load(row + v * lanes<T>));
  return minimum<T>(minimum<T>(least[0], least[1]), minimum<T>(least[2], least[3]));
}

}  // namespace spectralcls
