// Dense kernel values, written to the caller's buffer.
#pragma once

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

// Fills `out`, m x n for m queries and n points, with k(queries_i, points_j) times `factor`. It is row-major, with rows
// `stride` elements apart.
template <class T>
void kernel_matrix(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                   index_t stride, const Execution& execution);

// Fills `out` with the symmetric n x n matrix of the points. Each pair is computed once, and the diagonal is exactly
// k(0) times `factor`.
template <class T>
void symmetric_kernel_matrix(MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                             index_t stride, const Execution& execution);

}  // namespace spectralcls
