#include "spectralcls/kernel_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "spectralcls/distance_tile.hpp"
#include "sum_accumulators.hpp"

namespace spectralcls {
namespace {

constexpr index_t chunk_rows = 64;
constexpr double serial_work = 4e6;
constexpr double ln2 = 0.69314718055994530942;

// Computes the kernel values of rows x tile and hands them to write(first row, n rows, first column, values).
template <class T>
class Blocks {
 public:
  Blocks(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor)
      : queries_(queries),
        kernel_(kernel),
        factor_(static_cast<T>(factor)),
        geometry_(Geometry::of(points, bandwidth)),
        always_difference_(kernel != Kernel::gaussian || points.cols <= 3),
        rate_(std::min(rate(kernel, geometry_.unit, bandwidth), sizeof(T) == 4 ? 1e37 : 1e300)),
        packed_(points, geometry_, nullptr, 1, !always_difference_, true, false),
        rows_(static_cast<std::size_t>(queries.rows)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = static_cast<index_t>(i);
  }

  // For queries [begin, end) and the tiles that hold columns from first_column on.
  template <class Write>
  void compute(index_t begin, index_t end, index_t first_column, Write&& write) const {
    PackedQueries<T> queries;
    queries.pack(queries_, rows_.data() + begin, end - begin, geometry_);
    auto buffer = std::make_unique<TileBuffer<T>>();
    for (const Tile& tile : packed_.tiles()) {
      const index_t columns = std::min<index_t>(tile.n_vectors * lanes<T>, packed_rows() - tile.first);
      if (tile.first + columns <= first_column) continue;
      for (index_t q = 0; q < queries.n_blocks; ++q) {
        const DistanceForm form =
            always_difference_ ? DistanceForm::difference
                               : safe_form<T>(queries.largest_norm[static_cast<std::size_t>(q)], tile.largest_norm, rate_ * ln2);
        squared_distances(form, queries, q, packed_, tile, *buffer);
        const index_t first_row = begin + q * tile_rows;
        const index_t n_rows = std::min<index_t>(tile_rows, end - first_row);
        for (index_t r = 0; r < n_rows; ++r) {
          T* values = buffer->value[r];
          detail::kernel_row<T>(kernel_, values, tile.n_vectors, T(0), static_cast<T>(rate_), values);
          if (factor_ != T(1))
            for (int v = 0; v < tile.n_vectors; ++v) store(values + v * lanes<T>, load(values + v * lanes<T>) * factor_);
        }
        write(first_row, n_rows, tile.first, columns, *buffer);
      }
    }
  }

  Execution fitting(const Execution& execution) const {
    Execution used = execution;
    if (static_cast<double>(queries_.rows) * packed_rows() * static_cast<double>(queries_.cols + 12) < serial_work) used.n_threads = 1;
    return used;
  }

 private:
  // Without labels or order the packed columns are the points' rows, then padding.
  index_t packed_rows() const { return n_points_ ? n_points_ : (n_points_ = count()); }
  index_t count() const {
    index_t n = 0;
    for (const index_t row : packed_.source()) n += row >= 0;
    return n;
  }

  MatrixView<T> queries_;
  Kernel kernel_;
  T factor_;
  Geometry geometry_;
  bool always_difference_;
  double rate_;
  PackedPoints<T> packed_;
  std::vector<index_t> rows_;
  mutable index_t n_points_ = 0;
};

}  // namespace

template <class T>
void kernel_matrix(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                   index_t stride, const Execution& execution) {
  const Blocks<T> blocks(queries, points, kernel, bandwidth, factor);
  const index_t n_chunks = (queries.rows + chunk_rows - 1) / chunk_rows;
  for_each_chunk(n_chunks, blocks.fitting(execution), [&](std::ptrdiff_t chunk, Checkpoint& checkpoint) {
    const FlushSubnormals guard;
    const index_t begin = chunk * chunk_rows, end = std::min(begin + chunk_rows, queries.rows);
    blocks.compute(begin, end, 0, [&](index_t row, index_t n_rows, index_t column, index_t columns, const TileBuffer<T>& values) {
      for (index_t r = 0; r < n_rows; ++r) std::copy_n(values.value[r], columns, out + (row + r) * stride + column);
      if (row == begin) checkpoint();
    });
  });
}

template <class T>
void symmetric_kernel_matrix(MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                             index_t stride, const Execution& execution) {
  const Blocks<T> blocks(points, points, kernel, bandwidth, factor);
  const index_t n_chunks = (points.rows + chunk_rows - 1) / chunk_rows;
  for_each_chunk(n_chunks, blocks.fitting(execution), [&](std::ptrdiff_t chunk, Checkpoint& checkpoint) {
    const FlushSubnormals guard;
    const index_t begin = chunk * chunk_rows, end = std::min(begin + chunk_rows, points.rows);
    // The upper triangle from this chunk's first column on, and its mirror image below.
    blocks.compute(begin, end, begin, [&](index_t row, index_t n_rows, index_t column, index_t columns, const TileBuffer<T>& values) {
      for (index_t r = 0; r < n_rows; ++r) {
        const index_t i = row + r;
        const index_t from = std::max<index_t>(i - column, 0);
        if (from < columns) std::copy_n(values.value[r] + from, columns - from, out + i * stride + column + from);
      }
      for (index_t j = 0; j < columns; ++j)
        for (index_t r = 0; r < n_rows && row + r < column + j; ++r) out[(column + j) * stride + row + r] = values.value[r][j];
      if (row == begin) checkpoint();
    });
    for (index_t i = begin; i < end; ++i) out[i * stride + i] = static_cast<T>(factor);  // k(0) = 1 for every kernel
  });
}

template void kernel_matrix(MatrixView<float>, MatrixView<float>, Kernel, double, double, float*, index_t, const Execution&);
template void kernel_matrix(MatrixView<double>, MatrixView<double>, Kernel, double, double, double*, index_t, const Execution&);
template void symmetric_kernel_matrix(MatrixView<float>, Kernel, double, double, float*, index_t, const Execution&);
template void symmetric_kernel_matrix(MatrixView<double>, Kernel, double, double, double*, index_t, const Execution&);

}  // namespace spectralcls
