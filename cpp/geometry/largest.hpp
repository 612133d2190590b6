// The largest absolute value, which also shows whether all values are finite.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// Returns the largest absolute value of n numbers, or NaN if any of the numbers is NaN.
template <class T>
T largest_size(const T* values, index_t n);

}  // namespace spectralcls
