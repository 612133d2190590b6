// Symmetric operators applied to blocks of vectors. A block is n x columns, row-major, so the entries of all vectors
// for a row are contiguous, and one pass over the operator multiplies all vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// y = A x. Both are n x columns, row-major, and do not overlap.
template <class T>
using BlockOperator = std::function<void(const T* x, T* y, index_t columns)>;

template <class T>
struct CsrMatrix {
  const std::int64_t* row_starts;
  const std::int32_t* indices;
  const T* values;
  index_t rows;
};

// y = A x for a dense row-major n x n matrix.
template <class T>
void dense_product(const T* a, index_t n, const T* x, T* y, index_t columns, const Execution& execution);

// y = A x for a CSR matrix of any shape.
template <class T>
void csr_product(const CsrMatrix<T>& a, const T* x, T* y, index_t columns, const Execution& execution);

// Returns the largest |a_ij - a_ji| and the largest |a_ij| of a dense row-major matrix. Both are NaN if an entry is not
// finite.
template <class T>
std::pair<double, double> asymmetry(const T* a, index_t n, const Execution& execution);

}  // namespace spectralcls
