// The innermost loops. They compute the kernel values of a tile of arguments, multiply them by weights, and add them to
// sums in registers, one query row at a time. A sum is a vector: its lane i adds up the points i, i + lanes,
// i + 2 lanes, ... The lanes are added when the sums are flushed.
#pragma once

#include "geometry/distance_tile.hpp"
#include "sums/geometric_grid.hpp"
#include "sums/kernel.hpp"

namespace spectralcls::detail {

// The sums of one bandwidth for the rows of a tile, `stride` vectors apart. With shifts, rows whose gap exceeds `reach`
// are left out.
template <class T>
struct RowSums {
  index_t n_rows;
  int n_vectors;
  T rate;
  const T* weights;  // nullptr for ones
  const T* shifts;   // of the rows, nullptr without a scale
  const double* gaps;
  double reach;
  Vec<T>* sums;
  index_t stride;
};

// Adds the weighted kernel values of the rows to their sums.
template <class T>
void add_rows(Kernel kernel, const TileBuffer<T>& arguments, const RowSums<T>& rows);

// The destination of the kernel values of one bandwidth, and their weights.
template <class T>
struct GridStep {
  Vec<T>* sum;
  const T* weights;  // nullptr for ones
};

// Adds the weighted kernel values of the steps of a grid to their sums, one sum for each step. The first step has the
// rate `rate`. `shift` points to the shift of the row, or is nullptr without a scale.
template <class T>
void add_grid(const GridStep<T>* steps, int n_steps, const T* arguments, int n_vectors, const T* shift, T rate);

// Computes the kernel values of the rows of a tile. `values` may be `arguments`. `shifts` is nullptr without a scale.
template <class T>
void kernel_rows(Kernel kernel, const TileBuffer<T>& arguments, index_t n_rows, int n_vectors, const T* shifts, T rate,
                 TileBuffer<T>& values);

// Squares the kernel values of a row, which gives the next step of a grid.
template <class T>
inline void square_row(T* values, int n_vectors) {
  for (int v = 0; v < n_vectors; ++v) {
    const Vec<T> k = load(values + v * lanes<T>);
    store(values + v * lanes<T>, k * k);
  }
}

}  // namespace spectralcls::detail
