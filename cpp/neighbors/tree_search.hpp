// Nearest neighbors in a few dimensions through a k-d tree.
#pragma once

#include <cstdint>

#include "base/matrix.hpp"
#include "base/parallel.hpp"

namespace spectralcls::detail {

// As nearest_neighbors(), of which this is one way. No squared distance may overflow.
template <class T>
void tree_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                    const Execution& execution);

}  // namespace spectralcls::detail
