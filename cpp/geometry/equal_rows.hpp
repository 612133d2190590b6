// Equal rows of a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Numbers the distinct rows in the order of their first appearance. Returns the first row of each, in increasing order,
// and writes the number of every row to `group`. NaN equals NaN, and -0 equals 0.
template <class T>
std::vector<std::int64_t> equal_rows(MatrixView<T> rows, std::int64_t* group, const Execution& execution);

}  // namespace spectralcls
