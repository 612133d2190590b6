// The k largest eigenvalues of a symmetric operator and their vectors, by thick-restart block Lanczos with full
// reorthogonalization. The operator is applied to blocks only.
#pragma once

#include <cstdint>
#include <vector>

#include "krylov/operators.hpp"
#include "krylov/tall_products.hpp"

namespace spectralcls {

struct EigenOptions {
  index_t pairs;               // k
  index_t block_size;          // vectors per product
  index_t max_basis;           // columns of the search space before it is compressed
  index_t max_block_products;  // calls of the operator
  double tolerance;            // bound on the residual, relative to |eigenvalue|
  double norm;                 // a lower bound on the operator's norm if the deflated pairs give one, else 0
  std::uint64_t seed;
};

enum class EigenStatus { converged, not_converged, not_symmetric, not_finite };

template <class T>
struct Eigenpairs {
  std::vector<double> values;     // k, descending
  std::vector<T> vectors;         // n x k, row-major
  std::vector<double> residuals;  // |A v - value v|
  index_t block_products = 0;
  index_t matvecs = 0;  // vectors multiplied in total
  index_t block_size = 0;
  EigenStatus status = EigenStatus::not_converged;
};

// Returns the eigenpairs of the n x n operator `apply`. `start` holds any number of start vectors. As many as fit into
// a block are used, and random vectors fill the rest of the block. `deflate` holds known eigenvectors, whose span is
// excluded from the search.
template <class T>
Eigenpairs<T> top_eigenpairs(index_t n, const BlockOperator<T>& apply, const Multivector<const T>& start,
                             const Multivector<const T>& deflate, const EigenOptions& options,
                             const TallProducts<T>& products, const Execution& execution);

}  // namespace spectralcls
