// Sums with several columns of weights: multiplies a tile of kernel values by the weights of its points.
#pragma once

#include <algorithm>

#include "geometry/distance_tile.hpp"

namespace spectralcls::detail {

// The layout of sums in vectors, and of weights in memory. If there are few columns, each has a vector, whose lanes are
// partial sums over points. If there are many, each has a lane, in panels of up to three vectors. A kernel value is
// then multiplied by a panel in registers, and the lanes need not be added up.
template <class T>
class ColumnLayout {
 public:
  explicit ColumnLayout(index_t n_columns)
      : n_columns_(n_columns),
        n_vectors_((n_columns + lanes<T> - 1) / lanes<T>),
        across_lanes_(5 * n_vectors_ * lanes<T> <= 8 * n_columns) {}  // otherwise too many lanes are idle

  index_t n_columns() const { return n_columns_; }
  index_t n_vectors() const { return across_lanes_ ? n_vectors_ : n_columns_; }
  index_t weights_per_point() const { return across_lanes_ ? n_vectors_ * lanes<T> : n_columns_; }

  // Stores the weights of one point among those of its tile, which has `width` points.
  void pack(const T* weights, index_t point, index_t width, T* tile) const {
    if (!across_lanes_) {
      for (index_t c = 0; c < n_columns_; ++c) tile[c * width + point] = weights[c];
      return;
    }
    for_each_panel([&](index_t first, index_t size) {
      const index_t begin = first * lanes<T>, end = std::min(begin + size * lanes<T>, n_columns_);
      std::copy(weights + begin, weights + end, tile + begin * width + point * size * lanes<T>);
    });
  }

  // Adds the product of a tile, whose rows have `n_vectors` vectors of values, to the sums of its first n_rows rows.
  // Further rows, up to a whole register block, may be computed too. Each row has n_vectors() vectors of sums, and rows
  // are `stride` vectors apart.
  void add_product(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors, Vec<T>* sums,
                   index_t stride) const;
  // Adds the product of one row of values to its sums.
  void add_row(const T* values, const T* weights, int n_vectors, Vec<T>* sums) const;

  // Reduces the vectors of sums of one row and adds them to `totals`, one number for each column.
  void reduce(const Vec<T>* sums, double* totals) const {
    for (index_t c = 0; c < n_columns_; ++c)
      totals[c] += across_lanes_ ? static_cast<double>(sums[c / lanes<T>][c % lanes<T>]) : sum_of_lanes<T>(sums[c]);
  }

 private:
  void add_along(const TileBuffer<T>& values, index_t n_rows, const T* weights, int n_vectors, Vec<T>* sums,
                 index_t stride) const;
  template <int Rows>
  void add_across(const TileBuffer<T>& values, const T* weights, int n_points, Vec<T>* sums, index_t stride) const;

  // Calls body(first vector, number of vectors) for panels of up to three vectors. The last four vectors are split into
  // two and two, not three and one.
  template <class Body>
  void for_each_panel(Body&& body) const {
    for (index_t first = 0; first < n_vectors_;) {
      const index_t left = n_vectors_ - first, size = left == 4 ? 2 : std::min<index_t>(left, 3);
      body(first, size);
      first += size;
    }
  }

  index_t n_columns_, n_vectors_;
  bool across_lanes_;
};

}  // namespace spectralcls::detail
