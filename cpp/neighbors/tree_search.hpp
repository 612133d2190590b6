// Nearest neighbors through a k-d tree.
#pragma once

#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "neighbors/kd_tree.hpp"

namespace spectralcls::detail {

// Finds the k nearest points of every query, like nearest_neighbors(). Squared distances must not overflow. Returns
// false if a sample of queries is compared with more than `most_scans` leaves on average. `among_themselves`: the
// queries are the points of the tree, in the same rows.
template <class T>
bool search_tree(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, index_t k, double most_scans,
                 T* distances, std::int64_t* indices, const Execution& execution);

}  // namespace spectralcls::detail
