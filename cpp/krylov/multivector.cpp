#include "krylov/multivector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace spectralcls {
namespace {

// Two rounds suffice unless random directions replace dependent columns.
constexpr int max_rounds = 8;

template <class T>
Multivector<const T> constant(const Multivector<T>& vectors) {
  return {vectors.data, vectors.rows, vectors.columns};
}

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace

template <class T>
Matrix MultivectorAlgebra<T>::inner(const Multivector<T>& left, const Multivector<T>& right) const {
  Matrix out(left.columns, right.columns);
  products_.inner_product(constant(left), constant(right), out.data(), execution_);
  return out;
}

template <class T>
Matrix MultivectorAlgebra<T>::subtract(const Multivector<T>& basis, const Matrix& coefficients,
                                       const Multivector<T>& block) const {
  const Dense<T> typed = (-coefficients).cast<T>();
  Matrix gram(block.columns, block.columns);
  products_.add_product(constant(basis), typed.data(), block, gram.data(), execution_);
  return gram;
}

template <class T>
void MultivectorAlgebra<T>::multiply(const Multivector<T>& vectors, const Matrix& coefficients,
                                     const Multivector<T>& target) const {
  const Dense<T> typed = coefficients.cast<T>();
  products_.product(constant(vectors), typed.data(), target, execution_);
}

template <class T>
void MultivectorAlgebra<T>::to_rows(const Multivector<T>& vectors, T* rows) const {
  products_.to_rows(constant(vectors), rows, execution_);
}

template <class T>
Matrix MultivectorAlgebra<T>::from_rows(const T* rows, const Multivector<T>& vectors,
                                        const Multivector<T>& basis) const {
  Matrix out(basis.columns, vectors.columns);
  products_.from_rows(rows, vectors, constant(basis), out.data(), execution_);
  return out;
}

template <class T>
void MultivectorAlgebra<T>::fill_random(const Multivector<T>& block) {
  for (index_t j = 0; j < block.columns; ++j) {
    // Each number is a SplitMix64 hash of the seed, the number of the column and the row, so it does not depend on the
    // order in which the rows of a column are filled.
    const std::uint64_t origin = seed_ * 0xd1342543de82ef95ULL + stream_++ * 0x2545f4914f6cdd1dULL;
    T* column = block.data + j * block.rows;
    for (index_t i = 0; i < block.rows; ++i) {
      std::uint64_t z = origin + static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      z ^= z >> 31;
      column[i] = static_cast<T>(static_cast<double>(z >> 11) * 0x1p-52 - 1.0);
    }
  }
}

// Fills a column with a random vector of about unit length.
template <class T>
void MultivectorAlgebra<T>::random_direction(const Multivector<T>& block, index_t column) {
  const Multivector<T> one = block.middle(column, 1);
  fill_random(one);
  const T scale = static_cast<T>(std::sqrt(3.0 / static_cast<double>(block.rows)));
  for (index_t i = 0; i < block.rows; ++i) one.data[i] *= scale;
}

// Normalizes the columns, whatever their magnitude. Zero columns become random.
template <class T>
void MultivectorAlgebra<T>::normalize(const Multivector<T>& block) {
  const double operations = 4.0 * static_cast<double>(block.rows) * static_cast<double>(block.columns);
  for_each_chunk(block.columns, execution_.for_work(operations), [&](index_t j, Checkpoint&) {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> column(block.data + j * block.rows, block.rows);
    const double peak = column.abs().maxCoeff();
    const T shrink = static_cast<T>(1 / peak);
    if (std::isfinite(shrink)) column *= shrink;
    else if (peak > 0) column = (column.template cast<double>() / peak).template cast<T>();  // the peak is subnormal
    column /= std::max(static_cast<T>(std::sqrt(column.template cast<double>().square().sum())), T(1));
  });
  for (index_t j = 0; j < block.columns; ++j) {
    const T* column = block.data + j * block.rows;
    if (std::all_of(column, column + block.rows, [](T entry) { return entry == 0; })) random_direction(block, j);
  }
}

template <class T>
Eigen::VectorXd MultivectorAlgebra<T>::whiten(const Multivector<T>& block, const Matrix& gram, double least) const {
  auto [values, root] = symmetric_eigenpairs(gram);
  // Directions with eigenvalues below the rounding error of the Gram matrix are noise.
  const double floor = std::max(std::numeric_limits<T>::epsilon() * values(values.size() - 1), least);
  for (index_t j = 0; j < block.columns; ++j) root.col(j) /= std::sqrt(std::max(values(j), floor));
  multiply(block, root, block);
  return values;
}

template <class T>
void MultivectorAlgebra<T>::orthonormalize(const Multivector<T>& basis, const Multivector<T>& block) {
  const index_t width = block.columns;
  // Squared norm of a unit column of which only rounding errors remain.
  const double lost = std::pow(100 * std::numeric_limits<T>::epsilon(), 2);
  if (width == 0) return;
  normalize(block);
  Matrix gram = inner(block, block);
  for (int round = 0; round < max_rounds; ++round) {
    const Eigen::VectorXd values = whiten(block, gram, lost);
    // A block that loses little of its length when it is projected is orthogonal to the basis and still nearly
    // orthonormal.
    if (round > 0 && values(0) > 0.1) return;
    for (index_t j = 0; j < width; ++j)
      if (values(j) <= lost) random_direction(block, j);
    gram = subtract(basis, inner(basis, block), block);
  }
  throw std::runtime_error("no further direction is orthogonal to the basis");
}

template class MultivectorAlgebra<float>;
template class MultivectorAlgebra<double>;

}  // namespace spectralcls
