#include "krylov/panel.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "krylov/operators.hpp"
#include "krylov/tall_products.hpp"

namespace spectralcls {
namespace {

constexpr index_t chunk_rows = 1024;
constexpr index_t chunk_bytes = 512 * 1024;  // of a panel that is read again and again while it is in the second-level cache
constexpr int max_rounds = 8;

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Strided = Eigen::Map<Dense<T>, 0, Eigen::OuterStride<>>;

template <class T>
Strided<T> rows_of(const Panel<T>& panel, index_t first, index_t count) {
  return {panel.data + first, count, panel.columns, Eigen::OuterStride<>(panel.rows)};
}

// The panel from a row on.
template <class T>
Panel<const T> from_row(const Panel<T>& panel, index_t first) {
  return {panel.data + first, panel.rows, panel.columns};
}

// Calls body(chunk, first row, number of rows) for all chunks of `size` rows.
template <class Body>
void for_each_rows(index_t rows, double flops, const Execution& execution, Body&& body, index_t size = chunk_rows) {
  for_each_chunk((rows + size - 1) / size, execution.for_work(flops), [&](index_t chunk, Checkpoint&) {
    const index_t first = chunk * size;
    body(chunk, first, std::min(size, rows - first));
  });
}

// left^T right, from products of chunks of rows that are added in their order.
template <class T>
class ChunkedProduct {
 public:
  ChunkedProduct(index_t rows, index_t left, index_t right)
      : left_(left), right_(right), parts_(static_cast<std::size_t>((rows + chunk_rows - 1) / chunk_rows)) {}

  void put(index_t chunk, const Panel<const T>& left, const Panel<const T>& right, index_t count) {
    Matrix& part = parts_[static_cast<std::size_t>(chunk)];
    part.resize(left_, right_);
    detail::inner_of_rows<T>(left, right, count, part.data());
  }
  Matrix total() const {
    Matrix sum = Matrix::Zero(left_, right_);
    for (const Matrix& part : parts_) sum += part;
    return sum;
  }

 private:
  index_t left_, right_;
  std::vector<Matrix> parts_;
};

template <class T>
double product_flops(const Panel<T>& panel, index_t columns) {
  return 2.0 * static_cast<double>(panel.rows) * static_cast<double>(panel.columns) * static_cast<double>(columns);
}

}  // namespace

template <class T>
Matrix inner(const Panel<T>& left, const Panel<T>& right, const Execution& execution) {
  ChunkedProduct<T> sums(left.rows, left.columns, right.columns);
  for_each_rows(left.rows, product_flops(left, right.columns), execution, [&](index_t chunk, index_t first, index_t count) {
    sums.put(chunk, from_row(left, first), from_row(right, first), count);
  });
  return sums.total();
}

template <class T>
Matrix subtract(const Panel<T>& basis, const Matrix& coefficients, const Panel<T>& block, const Execution& execution) {
  const Dense<T> typed = (-coefficients).cast<T>();
  ChunkedProduct<T> sums(block.rows, block.columns, block.columns);
  const double flops = product_flops(basis, block.columns) + product_flops(block, block.columns);
  for_each_rows(block.rows, flops, execution, [&](index_t chunk, index_t first, index_t count) {
    detail::add_product_of_rows<T>(from_row(basis, first), typed.data(), {block.data + first, block.rows, block.columns}, count);
    sums.put(chunk, from_row(block, first), from_row(block, first), count);
  });
  return sums.total();
}

template <class T>
void transform(const Panel<T>& panel, const Matrix& coefficients, const Panel<T>& target, const Execution& execution) {
  const Dense<T> typed = coefficients.cast<T>();
  const auto row_bytes = static_cast<index_t>(sizeof(T)) * std::max<index_t>(panel.columns, 1);
  const index_t size = std::clamp<index_t>(chunk_bytes / row_bytes / 64 * 64, 64, chunk_rows);
  for_each_rows(panel.rows, product_flops(panel, typed.cols()), execution, [&](index_t, index_t first, index_t count) {
    Dense<T> product = Dense<T>::Zero(count, typed.cols());
    detail::add_product_of_rows<T>(from_row(panel, first), typed.data(), {product.data(), count, typed.cols()}, count);
    rows_of(target, first, count) = product;
  }, size);
}

template <class T>
void combine_columns(const Panel<T>& panel, const double* factors, index_t count, const Execution& execution) {
  transform<T>(panel, Eigen::Map<const Matrix>(factors, panel.columns, count), panel.middle(panel.columns - count, count), execution);
}

template <class T>
void fill_random(T* column, index_t rows, std::uint64_t seed, std::uint64_t stream) {
  // SplitMix64 of a counter: no state, so the numbers do not depend on who draws them.
  const std::uint64_t origin = seed * 0xd1342543de82ef95ULL + stream * 0x2545f4914f6cdd1dULL;
  for (index_t i = 0; i < rows; ++i) {
    std::uint64_t z = origin + static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    column[i] = static_cast<T>(static_cast<double>(z >> 11) * 0x1p-52 - 1.0);
  }
}

namespace {

// A random column of unit length but for a few per cent.
template <class T>
void random_direction(const Panel<T>& block, index_t column, std::uint64_t seed, std::uint64_t& stream) {
  T* entries = block.data + column * block.rows;
  fill_random(entries, block.rows, seed, stream++);
  const T scale = static_cast<T>(std::sqrt(3.0 / static_cast<double>(block.rows)));
  for (index_t i = 0; i < block.rows; ++i) entries[i] *= scale;
}

// Unit columns, whatever their magnitude; zeros become random.
template <class T>
void normalise(const Panel<T>& block, std::uint64_t seed, std::uint64_t& stream, const Execution& execution) {
  for_each_chunk(block.columns, execution, [&](index_t j, Checkpoint&) {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> column(block.data + j * block.rows, block.rows);
    const double peak = column.abs().maxCoeff();
    const T shrink = static_cast<T>(1 / peak);
    if (std::isfinite(shrink)) column *= shrink;
    else if (peak > 0) column = (column.template cast<double>() / peak).template cast<T>();  // the peak is subnormal
    column /= std::max(static_cast<T>(std::sqrt(column.template cast<double>().square().sum())), T(1));
  });
  for (index_t j = 0; j < block.columns; ++j) {
    const T* column = block.data + j * block.rows;
    if (std::all_of(column, column + block.rows, [](T entry) { return entry == 0; })) random_direction(block, j, seed, stream);
  }
}

}  // namespace

template <class T>
Eigen::VectorXd whiten(const Panel<T>& block, const Matrix& gram, double least, const Execution& execution) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(gram);
  if (solver.info() != Eigen::Success) throw std::runtime_error("the operator's answers are not finite");
  const auto& values = solver.eigenvalues();
  // Directions below the rounding of the Gram matrix hold noise.
  const double floor = std::max(std::numeric_limits<T>::epsilon() * values(values.size() - 1), least);
  Matrix root = solver.eigenvectors();
  for (index_t j = 0; j < block.columns; ++j) root.col(j) /= std::sqrt(std::max(values(j), floor));
  transform(block, root, block, execution);
  return values;
}

template <class T>
void orthonormalise(const Panel<T>& basis, const Panel<T>& block, std::uint64_t seed, std::uint64_t& stream,
                    const Execution& execution) {
  const index_t width = block.columns;
  const double lost = std::pow(100 * std::numeric_limits<T>::epsilon(), 2);  // squared norm of a unit column that has only rounding left
  if (width == 0) return;
  normalise(block, seed, stream, execution);
  Matrix gram = inner(block, block, execution);
  for (int round = 0; round < max_rounds; ++round) {
    const Eigen::VectorXd values = whiten(block, gram, lost, execution);
    // An orthonormal block that loses little of its length to the basis is orthogonal to it, and still nearly so to itself.
    if (round > 0 && values(0) > 0.1) return;
    for (index_t j = 0; j < width; ++j)
      if (values(j) <= lost) random_direction(block, j, seed, stream);
    gram = subtract(basis, inner(basis, block, execution), block, execution);
  }
  throw std::runtime_error("no further direction is orthogonal to the basis");
}

template <class T>
void to_rows(const Panel<T>& panel, T* rows, const Execution& execution) {
  for_each_rows(panel.rows, product_flops(panel, 1), execution, [&](index_t, index_t first, index_t count) {
    Eigen::Map<RowMajor<T>>(rows + first * panel.columns, count, panel.columns) = rows_of(panel, first, count);
  });
}

template <class T>
Matrix from_rows(const T* rows, const Panel<T>& panel, const Panel<T>& basis, const Execution& execution) {
  ChunkedProduct<T> sums(panel.rows, basis.columns, panel.columns);
  for_each_rows(panel.rows, product_flops(basis, panel.columns), execution, [&](index_t chunk, index_t first, index_t count) {
    rows_of(panel, first, count) = Eigen::Map<const RowMajor<T>>(rows + first * panel.columns, count, panel.columns);
    sums.put(chunk, from_row(basis, first), from_row(panel, first), count);
  });
  return sums.total();
}

#define SPECTRALCLS_INSTANTIATE(T)                                                                            \
  template Matrix inner<T>(const Panel<T>&, const Panel<T>&, const Execution&);                               \
  template Matrix subtract<T>(const Panel<T>&, const Matrix&, const Panel<T>&, const Execution&);               \
  template void transform<T>(const Panel<T>&, const Matrix&, const Panel<T>&, const Execution&);              \
  template Eigen::VectorXd whiten<T>(const Panel<T>&, const Matrix&, double, const Execution&);               \
  template void combine_columns<T>(const Panel<T>&, const double*, index_t, const Execution&);                \
  template void fill_random<T>(T*, index_t, std::uint64_t, std::uint64_t);                                      \
  template void orthonormalise<T>(const Panel<T>&, const Panel<T>&, std::uint64_t, std::uint64_t&,            \
                                  const Execution&);                                                        \
  template void to_rows<T>(const Panel<T>&, T*, const Execution&);                                            \
  template Matrix from_rows<T>(const T*, const Panel<T>&, const Panel<T>&, const Execution&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
