// Dense kernel values into a caller's buffer.
#pragma once

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

// out (m, n), row-major with `stride` elements from row to row: k(queries_i, points_j) times `factor`.
template <class T>
void kernel_matrix(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                   index_t stride, const Execution& execution);

// The symmetric (n, n) matrix of the points with themselves, each pair computed once: k(x_i, x_i) = k(0) exactly.
template <class T>
void symmetric_kernel_matrix(MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                             index_t stride, const Execution& execution);

}  // namespace spectralcls
