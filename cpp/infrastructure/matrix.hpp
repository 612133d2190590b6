// Views of memory that the caller owns. All interfaces between folders use these types, so nothing here may depend on
// the instruction set.
#pragma once

#include <cassert>
#include <cstddef>

namespace spectralcls {

// The type of all sizes, indices and counts. It is signed, because differences may be negative, and indexes a container
// without a cast.
using index_t = std::ptrdiff_t;

template <class Container>
constexpr index_t length(const Container& container) {
  return static_cast<index_t>(container.size());
}

// A row-major matrix.
template <class T>
struct MatrixView {
  const T* data;
  index_t rows, cols;
  const T* row(index_t i) const {
    assert(0 <= i && i <= rows);  // one past the last row is allowed
    return data + i * cols;
  }
};

// A block of vectors: `columns` contiguous columns of `rows` values, one after the other.
template <class T>
struct Multivector {
  T* data;
  index_t rows;
  index_t columns;

  Multivector<T> middle(index_t first, index_t count) const {
    assert(0 <= first && 0 <= count && first + count <= columns);
    return {data + first * rows, rows, count};
  }
};

struct Range {
  index_t begin, end;
  index_t size() const { return end - begin; }
};

}  // namespace spectralcls
