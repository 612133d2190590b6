// Tall, thin, column-major blocks and the three products that a block eigensolver needs of them.
// Rows are cut into chunks of a fixed size and partial results are added in the order of the chunks, so every
// result has the same bits for any number of threads.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

#include "base/matrix.hpp"
#include "base/parallel.hpp"

namespace spectralcls {

using Matrix = Eigen::MatrixXd;  // the small side of every product is float64, whatever the panel is

// left^T right.
template <class T>
Matrix inner(const Panel<T>& left, const Panel<T>& right, const Execution& execution);

// block -= basis * coefficients; returns block^T block of what is left.
template <class T>
Matrix subtract(const Panel<T>& basis, const Matrix& coefficients, const Panel<T>& block, const Execution& execution);

// target = panel * coefficients; the target may be columns of the panel.
template <class T>
void transform(const Panel<T>& panel, const Matrix& coefficients, const Panel<T>& target, const Execution& execution);

// The columns, whose Gram matrix is given, become orthonormal (block * its inverse root), but directions whose
// eigenvalue is below `least` become short. Returns the eigenvalues, ascending.
template <class T>
Eigen::VectorXd whiten(const Panel<T>& block, const Matrix& gram, double least, const Execution& execution);

// Uniform random numbers in [-1, 1) that depend on the seed, `stream` and the row alone.
template <class T>
void fill_random(T* column, index_t rows, std::uint64_t seed, std::uint64_t stream);

// Makes the columns of `block` orthonormal, and orthogonal to the orthonormal columns of `basis`. What lies in the span of
// the basis, or of the other columns, to rounding, is replaced by random directions, so the block keeps its width: a
// Krylov space that has become invariant goes on with fresh directions. `stream` counts the random columns used.
template <class T>
void orthonormalise(const Panel<T>& basis, const Panel<T>& block, std::uint64_t seed, std::uint64_t& stream,
                    const Execution& execution);

// A copy of the panel as row-major rows x columns; and back, with basis^T panel on the way, while it is in a cache.
template <class T>
void to_rows(const Panel<T>& panel, T* rows, const Execution& execution);
template <class T>
Matrix from_rows(const T* rows, const Panel<T>& panel, const Panel<T>& basis, const Execution& execution);

}  // namespace spectralcls
