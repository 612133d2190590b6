// Orthonormalizes blocks of vectors, and multiplies multivectors by each other and by small matrices.
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

  // Returns left^T right.
  Matrix inner(const Multivector<T>& left, const Multivector<T>& right) const;

  // block -= basis * coefficients. Returns block^T block of the result.
  Matrix subtract(const Multivector<T>& basis, const Matrix& coefficients, const Multivector<T>& block) const;

  // target = vectors * coefficients. The target may be columns of `vectors`.
  void multiply(const Multivector<T>& vectors, const Matrix& coefficients, const Multivector<T>& target) const;

  // Makes the columns orthonormal, given their Gram matrix: multiplies the block by the eigenvectors of this matrix,
  // each divided by the square root of its eigenvalue. Directions with an eigenvalue below `least` remain shorter than
  // unit length. Returns the eigenvalues in ascending order.
  Eigen::VectorXd whiten(const Multivector<T>& block, const Matrix& gram, double least) const;

  // Fills a block with uniform random numbers in [-1, 1). They depend only on the seed, the number of columns filled
  // before, and the row.
  void fill_random(const Multivector<T>& block);

  // Makes the columns of `block` orthonormal, and orthogonal to the orthonormal columns of `basis`. A column that
  // depends on the others, up to rounding, is replaced by a random direction. The block thus keeps its width even if a
  // Krylov space is invariant.
  void orthonormalize(const Multivector<T>& basis, const Multivector<T>& block);

  // Copies the vectors to `rows`, row-major.
  void to_rows(const Multivector<T>& vectors, T* rows) const;
  // Copies `rows` back to the vectors. Returns basis^T vectors.
  Matrix from_rows(const T* rows, const Multivector<T>& vectors, const Multivector<T>& basis) const;

 private:
  void random_direction(const Multivector<T>& block, index_t column);
  void normalize(const Multivector<T>& block);

  const TallProducts<T>& products_;
  std::uint64_t seed_, stream_ = 0;  // stream_: number of random columns so far
  const Execution& execution_;
};

}  // namespace spectralcls
