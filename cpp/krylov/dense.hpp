// Dense symmetric eigenproblems, solved by SciPy's LAPACK.
#pragma once

#include <Eigen/Core>

namespace spectralcls {

using Matrix = Eigen::MatrixXd;

// Returns the eigenvalues in ascending order.
Eigen::VectorXd symmetric_eigenvalues(Matrix a);

struct SymmetricEigenpairs {
  Eigen::VectorXd values;  // in ascending order
  Matrix vectors;
};
SymmetricEigenpairs symmetric_eigenpairs(Matrix a);

}  // namespace spectralcls
