// How large numbers are, and whether all of them are finite.
#pragma once

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// The largest absolute value of n numbers; infinity or NaN if there are any.
template <class T>
T largest_size(const T* values, index_t n);

}  // namespace spectralcls
