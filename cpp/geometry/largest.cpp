#include "geometry/largest.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace spectralcls {

template <class T>
T largest_size(const T* values, index_t n) {
  using Integer = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Integer without_sign = std::numeric_limits<Integer>::max() >> 1;
  Integer largest = 0;  // without the sign, numbers are ordered like their bits, with NaN above infinity
  for (index_t i = 0; i < n; ++i) {
    Integer bits;
    std::memcpy(&bits, values + i, sizeof bits);
    largest = std::max<Integer>(largest, bits & without_sign);
  }
  T size;
  std::memcpy(&size, &largest, sizeof size);
  return size;
}

template float largest_size(const float*, index_t);
template double largest_size(const double*, index_t);

}  // namespace spectralcls
