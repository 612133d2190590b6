// Orthonormal blocks of vectors, and the products of multivectors as small matrices.
#pragma once

#include <cstdint>

#include "krylov/dense.hpp"
#include "krylov/tall_products.hpp"

namespace spectralcls {

template <class T>
class MultivectorAlgebra {
 public:
  MultivectorAlgebra(const TallProducts<T>& products, std::uint64_t seed, const Execution& execution)
      : products_(products), seed_(seed), execution_(execution) {}

  // left^T right.
  Matrix inner(const Multivector<T>& left, const Multivector<T>& right) const;

  // block -= basis * coefficients; returns block^T block of what is left.
  Matrix subtract(const Multivector<T>& basis, const Matrix& coefficients, const Multivector<T>& block) const;

  // target = vectors * coefficients; the target may be columns of `vectors`.
  void multiply(const Multivector<T>& vectors, const Matrix& coefficients, const Multivector<T>& target) const;

  // The columns, whose Gram matrix is given, become orthonormal (block * its inverse root), but directions whose
  // eigenvalue is below `least` become short. Returns the eigenvalues, ascending.
  Eigen::VectorXd whiten(const Multivector<T>& block, const Matrix& gram, double least) const;

  // Uniform random numbers in [-1, 1) that depend on the seed, the number of columns drawn before and the row alone.
  void fill_random(const Multivector<T>& block);

  // Makes the columns of `block` orthonormal, and orthogonal to the orthonormal columns of `basis`. What lies in the
  // span of the basis, or of the other columns, to rounding, is replaced by random directions, so the block keeps its
  // width: a Krylov space that has become invariant goes on with fresh directions.
  void orthonormalize(const Multivector<T>& basis, const Multivector<T>& block);

  // A copy as row-major rows x columns; and back, with basis^T vectors on the way.
  void to_rows(const Multivector<T>& vectors, T* rows) const;
  Matrix from_rows(const T* rows, const Multivector<T>& vectors, const Multivector<T>& basis) const;

 private:
  void random_direction(const Multivector<T>& block, index_t column);
  void normalize(const Multivector<T>& block);

  const TallProducts<T>& products_;
  std::uint64_t seed_, stream_ = 0;  // the number of random columns so far
  const Execution& execution_;
};

extern template class MultivectorAlgebra<float>;
extern template class MultivectorAlgebra<double>;

}  // namespace spectralcls
