// Nearest neighbors of a few queries. The points are not packed, and are read from memory only once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls::detail {

// Returns the largest number of queries for which a scan is used instead of tiles. With so few queries, packing the
// points into tiles would take longer than the scan. On 7000 to 200000 points with 3, 8, 54, 256 and 784 features, scan
// and tiles took the same time at 10 to 60 queries.
inline index_t most_scanned(index_t n_features) { return std::clamp<index_t>(2 * n_features, 8, 32); }

// Finds the k nearest points of every query, like nearest_neighbors(). Squared distances must not overflow.
template <class T>
void scan_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                    const Execution& execution);

}  // namespace spectralcls::detail
