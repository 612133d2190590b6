// Lists, for each query row, the pairs that pass the filter, and computes their distances one by one. If few pairs of a
// tile matter, this costs less than computing the whole tile.
#pragma once

#include <cstdint>
#include <limits>

#include "geometry/points.hpp"

namespace spectralcls::detail {

// A second copy of the packed points. The coordinates of each point form a row, padded with zeros to whole vectors.
// They are scaled but not centered.
template <class T>
class PointRows {
 public:
  PointRows(MatrixView<T> points, const std::vector<index_t>& rows, const Geometry& geometry,
            const Execution& execution)
      : stride_((points.cols + lanes<T> - 1) / lanes<T> * lanes<T>) {
    const auto n = length(rows);
    rows_.resize(n * stride_);
    constexpr index_t rows_a_chunk = 4096;
    for_each_chunk((n + rows_a_chunk - 1) / rows_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
      for (index_t i = chunk * rows_a_chunk; i < std::min((chunk + 1) * rows_a_chunk, n); ++i) {
        T* to = rows_.data() + i * stride_;
        std::fill_n(to, stride_, T(0));
        const index_t row = rows[i];
        if (row < 0) continue;
        for (index_t k = 0; k < points.cols; ++k) to[k] = static_cast<T>(geometry.placed(points.row(row)[k], k));
      }
    });
  }
  index_t stride() const { return stride_; }
  const T* row(index_t column) const { return rows_.data() + column * stride_; }

 private:
  index_t stride_;
  UninitializedVector<T> rows_;
};

template <class T>
class NearPairs {
 public:
  static constexpr int settled_at = 64;  // a list of this many pairs should be emptied

  explicit NearPairs(const PointRows<T>& points) : points_(points), queries_(tile_rows * points.stride()) {}

  void start(const PackedQueries<T>& queries, index_t block) {
    const T* q = queries.block(DistanceForm::difference, block);
    for (index_t k = 0; k < queries.d; ++k)
      for (index_t r = 0; r < tile_rows; ++r) queries_[r * points_.stride() + k] = q[k * tile_rows + r];
  }

  // Adds the pairs of a query row with the points of a tile whose bits are set.
  void add(int row, const Tile& tile, std::uint64_t bits) {
    int n = sizes_[row];
    for (; bits; bits &= bits - 1, ++n) {
      columns_[row][n] = tile.first + __builtin_ctzll(bits);
      labels_[row][n] = tile.label;
    }
    sizes_[row] = n;
  }
  int size(int row) const { return sizes_[row]; }
  index_t column(int row, int i) const { return columns_[row][i]; }
  int label(int row, int i) const { return labels_[row][i]; }
  void clear(int row) { sizes_[row] = 0; }

  // Computes the squared distances of the pairs [begin, begin + n) of a row, and pads them with infinity to whole
  // vectors. Returns the number of vectors.
  int measure(int row, int begin, int n, T* out) {
    n_measured_ += n;
    constexpr int W = lanes<T>;
    const T* q = queries_.data() + row * points_.stride();
    for (int i = 0; i < n; i += W) {
      Vec<T> sums[W] = {};
      for (int j = 0; j < std::min(W, n - i); ++j) {
        const T* x = points_.row(columns_[row][begin + i + j]);
        Vec<T> sum{};
        for (index_t k = 0; k < points_.stride(); k += W) {
          const Vec<T> difference = load(x + k) - load(q + k);
          sum += difference * difference;
        }
        sums[j] = sum;
      }
      store(out + i, sums_of_lanes<T, W>(sums));
    }
    const int n_vectors = (n + W - 1) / W;
    std::fill(out + n, out + n_vectors * W, std::numeric_limits<T>::infinity());
    return n_vectors;
  }

  // Number of pairs whose distance has been computed so far.
  index_t n_measured() const { return n_measured_; }

 private:
  const PointRows<T>& points_;
  index_t n_measured_ = 0;
  AlignedVector<T> queries_;
  int sizes_[tile_rows] = {};
  index_t columns_[tile_rows][settled_at + 64];
  int labels_[tile_rows][settled_at + 64];
};

}  // namespace spectralcls::detail
