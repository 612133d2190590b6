// What happens to a tile of arguments: kernel values, weights, and sums in registers. One query row at a time; the
// accumulators are vectors (a lane per point modulo the vector width), reduced when a piece ends.
#pragma once

#include "geometry/distance_tile.hpp"
#include "sums/geometric_grid.hpp"
#include "sums/kernel.hpp"

namespace spectralcls::detail {

// A bandwidth's sums of the rows of a tile, `stride` vectors apart. With shifts, rows with a gap beyond `reach` are
// left out.
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

template <class T>
void add_rows(Kernel kernel, const TileBuffer<T>& arguments, const RowSums<T>& rows);

// Where the kernel values of a bandwidth go, and with which weights.
template <class T>
struct GridStep {
  Vec<T>* sum;
  const T* weights;  // nullptr for ones
};

// The Gaussians of the steps of a grid, the first at `rate`, each added to its sum. No shift: nullptr.
template <class T>
void add_grid(const GridStep<T>* steps, int n_steps, const T* arguments, int n_vectors, const T* shift, T rate);

// Kernel values of the rows of a tile; `values` may be `arguments`. No shifts: nullptr.
template <class T>
void kernel_rows(Kernel kernel, const TileBuffer<T>& arguments, index_t n_rows, int n_vectors, const T* shifts, T rate,
                 TileBuffer<T>& values);

// The next step of a grid in several columns.
template <class T>
inline void square_row(T* values, int n_vectors) {
  for (int v = 0; v < n_vectors; ++v) {
    const Vec<T> k = load(values + v * lanes<T>);
    store(values + v * lanes<T>, k * k);
  }
}

}  // namespace spectralcls::detail
