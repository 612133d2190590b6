// The products of multivectors in a block eigensolver. Their cost grows with the length of the vectors. Rows are cut
// into chunks of a fixed size, and partial results are added in the order of the chunks. Every result thus has the same
// bits for any number of threads.
#pragma once

#include "infrastructure/boundary.hpp"
#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Small matrices are column-major. Inner products are summed in T within a chunk of rows, and in float64 over the
// chunks.

// out = left^T right, left.columns x right.columns.
template <class T>
void inner_product(const Multivector<const T>& left, const Multivector<const T>& right, double* out,
                   const Execution& execution);

// block += basis * coefficients, basis.columns x block.columns; gram = block^T block of the result.
template <class T>
void add_product(const Multivector<const T>& basis, const T* coefficients, const Multivector<T>& block, double* gram,
                 const Execution& execution);

// target = vectors * coefficients, vectors.columns x target.columns. The target may be columns of `vectors`.
template <class T>
void product(const Multivector<const T>& vectors, const T* coefficients, const Multivector<T>& target,
             const Execution& execution);

// Copies the vectors to `rows`, row-major.
template <class T>
void to_rows(const Multivector<const T>& vectors, T* rows, const Execution& execution);
// Copies `rows` back to the vectors, and computes out = basis^T vectors while they are cached.
template <class T>
void from_rows(const T* rows, const Multivector<T>& vectors, const Multivector<const T>& basis, double* out,
               const Execution& execution);

// The functions above, as compiled for one variant.
template <class T>
struct TallProducts {
  Entry<decltype(&spectralcls::inner_product<T>)> inner_product;
  Entry<decltype(&spectralcls::add_product<T>)> add_product;
  Entry<decltype(&spectralcls::product<T>)> product;
  Entry<decltype(&spectralcls::to_rows<T>)> to_rows;
  Entry<decltype(&spectralcls::from_rows<T>)> from_rows;
};

}  // namespace spectralcls
