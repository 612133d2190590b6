// Nearest neighbors of a few queries: every point is read once, as it came, at the speed of memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls::detail {

// Queries up to which this takes less time than packing the points into tiles: measured on 7000 to 200 000 points of 3,
// 8, 54, 256 and 784 features, where the two take the same time at 10 to 60 queries.
inline index_t most_scanned(index_t n_features) { return std::clamp<index_t>(2 * n_features, 8, 32); }

// The k nearest points of every query, as nearest_neighbors() gives them. No squared distance may overflow.
template <class T>
void scan_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                    const Execution& execution);

extern template void scan_neighbors(MatrixView<float>, MatrixView<float>, index_t, float*, std::int64_t*,
                                    const Execution&);
extern template void scan_neighbors(MatrixView<double>, MatrixView<double>, index_t, double*, std::int64_t*,
                                    const Execution&);

}  // namespace spectralcls::detail
