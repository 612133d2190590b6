// Dense kernel values, written to the caller's buffer.
#pragma once

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

// Fills out (m, n), row-major with `stride` elements between rows, with k(queries_i, points_j) times `factor`.
template <class T>
void kernel_matrix(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                   index_t stride, const Execution& execution);

// Fills the symmetric (n, n) matrix of the points. Each pair is computed once, and k(x_i, x_i) = k(0) exactly.
template <class T>
void symmetric_kernel_matrix(MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                             index_t stride, const Execution& execution);

}  // namespace spectralcls
