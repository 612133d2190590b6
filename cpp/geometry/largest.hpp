// The magnitude of the largest value, which also shows whether all values are finite.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// Returns the largest absolute value of n numbers, or infinity or NaN if there are any.
template <class T>
T largest_size(const T* values, index_t n);

}  // namespace spectralcls
