// An order of points in which neighbors in space are near in memory. The points of a tile then lie close together.
#pragma once

#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Permutes the rows within each range by median splits along the widest feature, down to leaves of `leaf` points. The
// result is deterministic.
template <class T>
void order_by_locality(MatrixView<T> points, std::vector<index_t>& rows, std::vector<Range> ranges, index_t leaf,
                       const Execution& execution);

}  // namespace spectralcls
