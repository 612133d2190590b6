#include "krylov/tall_products.hpp"

#include <algorithm>
#include <vector>

#include "infrastructure/memory.hpp"
#include "krylov/tall_tiles.hpp"

namespace spectralcls {
namespace {

constexpr index_t chunk_rows = 1024;         // fixed, because the order of the partial sums depends on it
constexpr index_t chunk_bytes = 512 * 1024;  // of vectors, which are read repeatedly from the second-level cache

}  // namespace

namespace detail {

// Computes left^T right. The products of the chunks of rows are added in the order of the chunks.
template <class T>
class ChunkedProduct {
 public:
  ChunkedProduct(index_t rows, index_t left, index_t right) : size_(left * right) {
    parts_.resize(((rows + chunk_rows - 1) / chunk_rows) * size_);
  }

  void put(index_t chunk, const Multivector<const T>& left, const Multivector<const T>& right, index_t count) {
    inner_of_rows<T>(left, right, count, parts_.data() + chunk * size_);
  }
  void total(double* out) const {
    std::fill(out, out + size_, 0.0);
    for (index_t first = 0; first < length(parts_); first += size_)
      for (index_t i = 0; i < size_; ++i) out[i] += parts_[first + i];
  }

 private:
  index_t size_;
  UninitializedVector<double> parts_;
};

}  // namespace detail

namespace {

// Returns the rows of the vectors from `first` on.
template <class T>
Multivector<T> from_row(const Multivector<T>& vectors, index_t first) {
  return {vectors.data + first, vectors.rows, vectors.columns};
}
template <class T>
Multivector<const T> constant(const Multivector<T>& vectors) {
  return {vectors.data, vectors.rows, vectors.columns};
}

// Calls body(chunk, first row, number of rows) for all chunks of `size` rows.
template <class Body>
void for_each_rows(index_t rows, double flops, const Execution& execution, Body&& body, index_t size = chunk_rows) {
  for_each_chunk((rows + size - 1) / size, execution.for_work(flops), [&](index_t chunk, Checkpoint&) {
    const index_t first = chunk * size;
    body(chunk, first, std::min(size, rows - first));
  });
}

double product_flops(index_t rows, index_t left, index_t right) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(left) * static_cast<double>(right);
}

}  // namespace

template <class T>
void inner_product(const Multivector<const T>& left, const Multivector<const T>& right, double* out,
                   const Execution& execution) {
  detail::ChunkedProduct<T> sums(left.rows, left.columns, right.columns);
  const double flops = product_flops(left.rows, left.columns, right.columns);
  for_each_rows(left.rows, flops, execution, [&](index_t chunk, index_t first, index_t count) {
    sums.put(chunk, from_row(left, first), from_row(right, first), count);
  });
  sums.total(out);
}

template <class T>
void add_product(const Multivector<const T>& basis, const T* coefficients, const Multivector<T>& block, double* gram,
                 const Execution& execution) {
  detail::ChunkedProduct<T> sums(block.rows, block.columns, block.columns);
  const double flops = product_flops(block.rows, basis.columns + block.columns, block.columns);
  for_each_rows(block.rows, flops, execution, [&](index_t chunk, index_t first, index_t count) {
    const Multivector<T> rows = from_row(block, first);
    detail::add_product_of_rows<T>(from_row(basis, first), coefficients, rows, count);
    sums.put(chunk, constant(rows), constant(rows), count);
  });
  sums.total(gram);
}

template <class T>
void product(const Multivector<const T>& vectors, const T* coefficients, const Multivector<T>& target,
             const Execution& execution) {
  const auto row_bytes = static_cast<index_t>(sizeof(T)) * std::max<index_t>(vectors.columns, 1);
  const index_t size = std::clamp<index_t>(chunk_bytes / row_bytes / 64 * 64, 64, chunk_rows), columns = target.columns;
  const double flops = product_flops(vectors.rows, vectors.columns, columns);
  for_each_rows(
      vectors.rows, flops, execution,
      [&](index_t, index_t first, index_t count) {
        std::vector<T> rows(count * columns);
        detail::add_product_of_rows<T>(from_row(vectors, first), coefficients, {rows.data(), count, columns}, count);
        for (index_t j = 0; j < columns; ++j)
          std::copy(rows.data() + j * count, rows.data() + (j + 1) * count, target.data + j * target.rows + first);
      },
      size);
}

template <class T>
void to_rows(const Multivector<const T>& vectors, T* rows, const Execution& execution) {
  const index_t columns = vectors.columns;
  for_each_rows(vectors.rows, product_flops(vectors.rows, columns, 1), execution,
                [&](index_t, index_t first, index_t count) {
                  for (index_t i = first; i < first + count; ++i)
                    for (index_t j = 0; j < columns; ++j) rows[i * columns + j] = vectors.data[j * vectors.rows + i];
                });
}

template <class T>
void from_rows(const T* rows, const Multivector<T>& vectors, const Multivector<const T>& basis, double* out,
               const Execution& execution) {
  const index_t columns = vectors.columns;
  detail::ChunkedProduct<T> sums(vectors.rows, basis.columns, columns);
  const double flops = product_flops(vectors.rows, basis.columns, columns);
  for_each_rows(vectors.rows, flops, execution, [&](index_t chunk, index_t first, index_t count) {
    for (index_t j = 0; j < columns; ++j)
      for (index_t i = first; i < first + count; ++i) vectors.data[j * vectors.rows + i] = rows[i * columns + j];
    sums.put(chunk, from_row(basis, first), from_row(constant(vectors), first), count);
  });
  sums.total(out);
}

#define SPECTRALCLS_INSTANTIATE(T)                                                                                     \
  template void inner_product<T>(const Multivector<const T>&, const Multivector<const T>&, double*, const Execution&); \
  template void add_product<T>(const Multivector<const T>&, const T*, const Multivector<T>&, double*,                  \
                               const Execution&);                                                                      \
  template void product<T>(const Multivector<const T>&, const T*, const Multivector<T>&, const Execution&);            \
  template void to_rows<T>(const Multivector<const T>&, T*, const Execution&);                                         \
  template void from_rows<T>(const T*, const Multivector<T>&, const Multivector<const T>&, double*, const Execution&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
