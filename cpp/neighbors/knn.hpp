// Exact nearest neighbors, without a matrix of distances.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// The neighbors of all queries, one query after the other. The neighbors of query i start at first[i], end before
// first[i + 1], and are sorted by index.
template <class T>
struct NeighborLists {
  std::vector<std::int64_t> first, indices;
  std::vector<T> distances;
};

// The search method. All methods give the same result.
enum class Search { automatic, tiles, tree };

// An index of points that many searches share. The first search for which a k-d tree pays off builds the tree.
template <class T>
class NeighborIndex;

// Returns an index of the points. The points must outlive the index.
template <class T>
std::shared_ptr<const NeighborIndex<T>> index_points(MatrixView<T> points);

// Finds the k nearest points of every query, sorted by distance, then by index; k <= points.rows. Both outputs are
// row-major (queries.rows, k). A distance is the square root of the sum of squared coordinate differences, computed in
// double. `index` is nullptr or an index of the same points.
template <class T>
void nearest_neighbors(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                       Search search, T* distances, std::int64_t* indices, const Execution& execution);

// Finds, for every query, the points j at a distance of less than radii[j].
template <class T>
NeighborLists<T> reverse_neighbors(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                   const Execution& execution);

}  // namespace spectralcls
