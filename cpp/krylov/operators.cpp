#include "krylov/operators.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "infrastructure/simd.hpp"

namespace spectralcls {
namespace {

constexpr index_t dense_rows = 64;    // rows of a chunk
constexpr index_t dense_depth = 512;  // columns of A in each pass; their part of x stays in the first-level cache
constexpr index_t csr_rows = 512;
constexpr index_t tile = 64;

// y[0 .. R)[0 .. lanes) += a[0 .. R)[0 .. depth) x[0 .. depth)[0 .. lanes), with accumulators in registers.
template <int R, class T>
void dense_tile(const T* a, index_t stride_a, index_t depth, const T* x, T* y, index_t stride) {
  Vec<T> sums[R];
  for (int r = 0; r < R; ++r) sums[r] = load_unaligned(y + r * stride);
  for (index_t j = 0; j < depth; ++j) {
    const Vec<T> row = load_unaligned(x + j * stride);
    for (int r = 0; r < R; ++r) sums[r] += a[r * stride_a + j] * row;
  }
  for (int r = 0; r < R; ++r) store_unaligned(y + r * stride, sums[r]);
}

template <class T>
void dense_rows_product(const T* a, index_t n, index_t rows, const T* x, T* y, index_t stride) {
  std::fill(y, y + rows * stride, T(0));
  for (index_t first = 0; first < n; first += dense_depth) {
    const index_t depth = std::min(dense_depth, n - first);
    for (index_t column = 0; column < stride; column += lanes<T>) {
      const T* block = x + first * stride + column;
      index_t row = 0;
      for (; row + 8 <= rows; row += 8)
        dense_tile<8>(a + row * n + first, n, depth, block, y + row * stride + column, stride);
      for (; row < rows; ++row) dense_tile<1>(a + row * n + first, n, depth, block, y + row * stride + column, stride);
    }
  }
}

// Computes one row of a CSR product. `Fixed` is the number of columns if it is a common one, otherwise 0.
template <index_t Fixed, class T>
void csr_row(const CsrMatrix<T>& a, index_t row, const T* x, T* y, index_t columns) {
  const index_t width = Fixed ? Fixed : columns;
  T sums[Fixed ? Fixed : 1] = {};
  T* out = Fixed ? sums : y;
  if (!Fixed) std::fill(y, y + width, T(0));
  for (auto entry = a.row_starts[row]; entry < a.row_starts[row + 1]; ++entry) {
    const T value = a.values[entry];
    const T* other = x + static_cast<index_t>(a.indices[entry]) * width;
    for (index_t c = 0; c < width; ++c) out[c] += value * other[c];
  }
  if (Fixed) std::copy(sums, sums + width, y);
}

template <index_t Fixed, class T>
void csr_chunks(const CsrMatrix<T>& a, const T* x, T* y, index_t columns, const Execution& execution) {
  const double products = static_cast<double>(a.row_starts[a.rows]) * static_cast<double>(columns);
  for_each_chunk((a.rows + csr_rows - 1) / csr_rows, execution.for_work(products), [&](index_t chunk, Checkpoint&) {
    const index_t last = std::min((chunk + 1) * csr_rows, a.rows);
    for (index_t row = chunk * csr_rows; row < last; ++row) csr_row<Fixed>(a, row, x, y + row * columns, columns);
  });
}

}  // namespace

template <class T>
void dense_product(const T* a, index_t n, const T* x, T* y, index_t columns, const Execution& execution) {
  assert(n > 0 && columns > 0);
  // The rows of the block are padded to whole vectors.
  const index_t stride = (columns + lanes<T> - 1) / lanes<T> * lanes<T>;
  std::vector<T> padded;
  const T* source = x;
  if (stride != columns) {
    padded.assign(n * stride, T(0));
    for (index_t i = 0; i < n; ++i) std::copy(x + i * columns, x + (i + 1) * columns, padded.data() + i * stride);
    source = padded.data();
  }
  const double products = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(columns);
  for_each_chunk((n + dense_rows - 1) / dense_rows, execution.for_work(products), [&](index_t chunk, Checkpoint&) {
    const index_t first = chunk * dense_rows, rows = std::min(dense_rows, n - first);
    std::vector<T> sums(rows * stride);
    dense_rows_product(a + first * n, n, rows, source, sums.data(), stride);
    for (index_t i = 0; i < rows; ++i)
      std::copy(sums.data() + i * stride, sums.data() + i * stride + columns, y + (first + i) * columns);
  });
}

template <class T>
void csr_product(const CsrMatrix<T>& a, const T* x, T* y, index_t columns, const Execution& execution) {
  switch (columns) {
    case 1: return csr_chunks<1>(a, x, y, columns, execution);
    case 2: return csr_chunks<2>(a, x, y, columns, execution);
    case 4: return csr_chunks<4>(a, x, y, columns, execution);
    case 8: return csr_chunks<8>(a, x, y, columns, execution);
    case 16: return csr_chunks<16>(a, x, y, columns, execution);
    default: return csr_chunks<0>(a, x, y, columns, execution);
  }
}

template <class T>
std::pair<double, double> asymmetry(const T* a, index_t n, const Execution& execution) {
  const index_t tiles = (n + tile - 1) / tile;
  std::vector<std::pair<double, double>> worst(tiles);
  for_each_chunk(tiles, execution.for_work(static_cast<double>(n) * static_cast<double>(n)),
                 [&](index_t chunk, Checkpoint&) {
                   // Each column of the tile is a lane. x - x is NaN if x is not finite.
                   std::array<T, tile> difference{}, largest{}, unsound{};
                   std::array<std::array<T, tile>, tile> upper;
                   const index_t i0 = chunk * tile, i1 = std::min(i0 + tile, n);
                   for (index_t j0 = 0; j0 < i1; j0 += tile) {
                     const index_t width = std::min(tile, i1 - j0);
                     for (index_t j = 0; j < width; ++j)
                       for (index_t i = i0; i < i1; ++i) upper[i - i0][j] = a[(j0 + j) * n + i];
                     for (index_t i = i0; i < i1; ++i)
                       for (index_t j = 0; j < width; ++j) {
                         const T below = a[i * n + j0 + j], above = upper[i - i0][j];
                         unsound[j] += (below - below) + (above - above);
                         difference[j] = std::max(difference[j], std::abs(below - above));
                         largest[j] = std::max(largest[j], std::max(std::abs(below), std::abs(above)));
                       }
                   }
                   const double doubt = std::accumulate(unsound.begin(), unsound.end(), 0.0);  // 0 or NaN
                   const auto greatest = [doubt](const auto& lanes) {
                     return *std::max_element(lanes.begin(), lanes.end()) + doubt;
                   };
                   worst[chunk] = {greatest(difference), greatest(largest)};
                 });
  std::pair<double, double> result{0, 0};
  for (const auto& [difference, largest] : worst) {
    if (std::isnan(difference)) return {difference, largest};
    result = {std::max(result.first, difference), std::max(result.second, largest)};
  }
  return result;
}

#define SPECTRALCLS_INSTANTIATE(T)                                                            \
  template void dense_product<T>(const T*, index_t, const T*, T*, index_t, const Execution&); \
  template void csr_product<T>(const CsrMatrix<T>&, const T*, T*, index_t, const Execution&); \
  template std::pair<double, double> asymmetry<T>(const T*, index_t, const Execution&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
