// Exact nearest neighbors: no matrix of distances exists.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Points and distances of one row after the other; row i owns [first[i], first[i + 1]), indices increasing.
template <class T>
struct NeighborLists {
  std::vector<std::int64_t> first, indices;
  std::vector<T> distances;
};

// Through tiles of distances or a k-d tree: the answer is the same.
enum class Search { automatic, tiles, tree };

// Points for many searches: the first that a k-d tree pays for builds it.
template <class T>
class NeighborIndex;

// The points have to outlive the index.
template <class T>
std::shared_ptr<const NeighborIndex<T>> index_points(MatrixView<T> points);

// The k nearest points of every query, by distance, then by index; k <= points.rows. Both outputs are row-major
// (queries.rows, k). A distance is the root of a sum of squared coordinate differences taken in double. `index`, if
// any, is of the same points.
template <class T>
void nearest_neighbors(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                       Search search, T* distances, std::int64_t* indices, const Execution& execution);

// For every query the points j that lie nearer to it than radii[j].
template <class T>
NeighborLists<T> reverse_neighbors(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                   const Execution& execution);

}  // namespace spectralcls
