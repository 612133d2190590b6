#include "sums/kernel_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "geometry/distance_tile.hpp"
#include "geometry/query_chunks.hpp"
#include "sums/packed_points.hpp"
#include "sums/sum_accumulators.hpp"
#include "sums/tile_arguments.hpp"

namespace spectralcls {
namespace detail {

// Kernel values of a chunk of rows and one tile of columns, which stay in the second-level cache.
template <class T>
struct alignas(64) ChunkBuffer {
  T value[query_chunk_rows][tile_width<T>];
};

// Writes rows of the caller's matrix. Stores bypass the caches if the matrix is larger than `streaming_from`.
template <class T>
class Output {
 public:
  Output(T* out, index_t rows, index_t stride)
      : out_(out),
        stride_(stride),
        streaming_(static_cast<double>(rows) * static_cast<double>(stride) * sizeof(T) > streaming_from) {}

  T* at(index_t row, index_t column) const { return out_ + row * stride_ + column; }

  void write_row(const T* from, index_t n, index_t row, index_t column) const {
    T* to = at(row, column);
    index_t i = 0;
    if (streaming_) {
      for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % vector_bytes != 0; ++i) to[i] = from[i];
      for (; i + lanes<T> <= n; i += lanes<T>) store_streaming(to + i, load_unaligned(from + i));
    }
    std::copy(from + i, from + n, to + i);
  }

 private:
  static constexpr double streaming_from = 96e6;  // bytes

  T* out_;
  index_t stride_;
  bool streaming_;
};

}  // namespace detail

namespace {

template <class T>
class Blocks {
 public:
  Blocks(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor,
         const Execution& execution)
      : queries_(queries),
        n_points_(points.rows),
        kernel_(kernel),
        factor_(static_cast<T>(factor)),
        execution_(execution.for_work(static_cast<double>(queries.rows) * static_cast<double>(points.rows) *
                                      static_cast<double>(queries.cols + 12))),
        points_(points, Geometry::of(points, {bandwidth, bandwidth}, execution_), {},
                !detail::TileArguments<T>::always_difference(kernel, points.cols), false, execution_),
        rate_(rate<T>(kernel, points_.geometry().scale, bandwidth)),
        arguments_(kernel, rate_, points.cols),
        rows_(queries.rows) {
    std::iota(rows_.begin(), rows_.end(), index_t{0});
    if (arguments_.prefers_differences(
            false, [&] { return points_.largest_norm() + points_.largest_norm(queries, execution_); }))
      points_.with_differences(execution_);
  }

  // Calls write(begin, end, first column, n columns, values) for each chunk of rows and each tile of columns. With
  // `upper_triangle`, skips the tiles that lie entirely below the diagonal.
  template <class Write>
  void for_each_chunk_of_rows(bool upper_triangle, Write&& write) const {
    for_each_query_chunk(queries_, rows_, query_chunk_rows, points_.geometry(), execution_,
                         [&](index_t, const QueryChunk<T>& chunk, Checkpoint& checkpoint) {
                           auto buffer = std::make_unique<detail::ChunkBuffer<T>>();
                           Memory memory[query_chunk_rows / tile_rows];
                           for (const Tile& tile : points_.tiles().tiles()) {
                             // Without labels or reordering, the packed columns are the points in their order, followed
                             // by padding.
                             const index_t columns =
                                 std::min<index_t>(tile.n_vectors * lanes<T>, n_points_ - tile.first);
                             if (upper_triangle && tile.first + columns <= chunk.places.begin) continue;
                             for (index_t q = 0; q < chunk.n_blocks(); ++q)
                               compute(chunk, q, tile, memory[q], buffer->value[q * tile_rows]);
                             write(chunk.places.begin, chunk.places.end, tile.first, columns, *buffer);
                             checkpoint();
                           }
                           stream_fence();
                         });
  }

 private:
  using Memory = typename detail::TileArguments<T>::Memory;

  void compute(const QueryChunk<T>& queries, index_t q, const Tile& tile, Memory& memory, T* values) const {
    auto& out = *reinterpret_cast<TileBuffer<T>*>(values);
    arguments_.measure(queries, q, points_, tile, out, memory, [] {});
    detail::kernel_rows<T>(kernel_, out, tile_rows, tile.n_vectors, nullptr, static_cast<T>(rate_), out);
    if (factor_ == T(1)) return;
    for (T* row : out.value)
      for (int v = 0; v < tile.n_vectors; ++v) store(row + v * lanes<T>, load(row + v * lanes<T>) * factor_);
  }

  MatrixView<T> queries_;
  index_t n_points_;
  Kernel kernel_;
  T factor_;
  Execution execution_;
  PackedPoints<T> points_;
  double rate_;
  detail::TileArguments<T> arguments_;
  std::vector<index_t> rows_;
};

// to[c, r] = from[r, c] for all rows and for the columns [begin, end), extended on both sides to whole vectors.
template <class T>
void transpose_columns(const detail::ChunkBuffer<T>& from, index_t begin, index_t end, T (*to)[query_chunk_rows]) {
  constexpr int W = lanes<T>;
  for (index_t c = begin / W * W; c < end; c += W)
    for (index_t r = 0; r < query_chunk_rows; r += W) {
      Vec<T> square[W];
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) square[i] = load(from.value[r + i] + c);
      transpose<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) store(to[c + i] + r, square[i]);
    }
}

}  // namespace

template <class T>
void kernel_matrix(MatrixView<T> queries, MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                   index_t stride, const Execution& execution) {
  const detail::Output<T> output(out, queries.rows, stride);
  Blocks<T>(queries, points, kernel, bandwidth, factor, execution)
      .for_each_chunk_of_rows(false, [&](index_t begin, index_t end, index_t column, index_t columns,
                                         const detail::ChunkBuffer<T>& values) {
        for (index_t i = begin; i < end; ++i) output.write_row(values.value[i - begin], columns, i, column);
      });
}

template <class T>
void symmetric_kernel_matrix(MatrixView<T> points, Kernel kernel, double bandwidth, double factor, T* out,
                             index_t stride, const Execution& execution) {
  const detail::Output<T> output(out, points.rows, stride);
  const T at_zero = static_cast<T>(factor * traits(kernel).at_zero);
  Blocks<T>(points, points, kernel, bandwidth, factor, execution)
      .for_each_chunk_of_rows(
          true, [&](index_t begin, index_t end, index_t column, index_t columns, const detail::ChunkBuffer<T>& values) {
            // Columns from `end` on are written twice: here, and mirrored below the diagonal block.
            const index_t mirrored = std::clamp<index_t>(end - column, 0, columns);
            for (index_t i = begin; i < end; ++i) {
              const index_t from = std::clamp<index_t>(i - column, 0, columns);
              output.write_row(values.value[i - begin] + from, columns - from, i, column + from);
              for (index_t c = from; c < mirrored; ++c) *output.at(column + c, i) = values.value[i - begin][c];
              if (i >= column && i < column + columns) *output.at(i, i) = at_zero;
            }
            if (mirrored == columns) return;
            alignas(64) thread_local T transposed[tile_width<T>][query_chunk_rows];
            transpose_columns(values, mirrored, columns, transposed);
            for (index_t c = mirrored; c < columns; ++c)
              output.write_row(transposed[c], end - begin, column + c, begin);
          });
}

template void kernel_matrix(MatrixView<float>, MatrixView<float>, Kernel, double, double, float*, index_t,
                            const Execution&);
template void kernel_matrix(MatrixView<double>, MatrixView<double>, Kernel, double, double, double*, index_t,
                            const Execution&);
template void symmetric_kernel_matrix(MatrixView<float>, Kernel, double, double, float*, index_t, const Execution&);
template void symmetric_kernel_matrix(MatrixView<double>, Kernel, double, double, double*, index_t, const Execution&);

}  // namespace spectralcls
