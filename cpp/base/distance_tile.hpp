// Squared distances between tile_rows queries and one tile of packed points, left in a small buffer.
#pragma once

#include "base/points.hpp"

namespace spectralcls {

template <class T>
struct alignas(64) TileBuffer {
  T value[tile_rows][tile_width<T>];
};

// Of the first n_rows rows of the block at least: a query that comes alone is not computed several times.
template <class T>
void squared_distances(DistanceForm form, const PackedQueries<T>& queries, index_t block, index_t n_rows,
                       const PackedPoints<T>& points, const Tile& tile, TileBuffer<T>& out);

// The same from differences for one row of the block, but only in panels where it holds a distance below `limit`.
template <class T>
void differences_below(const PackedQueries<T>& queries, index_t block, index_t row, const PackedPoints<T>& points,
                       const Tile& tile, T limit, TileBuffer<T>& out);

extern template void squared_distances(DistanceForm, const PackedQueries<float>&, index_t, index_t,
                                       const PackedPoints<float>&, const Tile&, TileBuffer<float>&);
extern template void squared_distances(DistanceForm, const PackedQueries<double>&, index_t, index_t,
                                       const PackedPoints<double>&, const Tile&, TileBuffer<double>&);

extern template void differences_below(const PackedQueries<float>&, index_t, index_t, const PackedPoints<float>&,
                                       const Tile&, float, TileBuffer<float>&);
extern template void differences_below(const PackedQueries<double>&, index_t, index_t, const PackedPoints<double>&,
                                       const Tile&, double, TileBuffer<double>&);

// The smallest distance in each lane of one row of a tile.
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
