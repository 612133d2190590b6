// Dense symmetric eigenproblems, by SciPy's LAPACK.
#pragma once

#include <Eigen/Core>

namespace spectralcls {

using Matrix = Eigen::MatrixXd;

// Eigenvalues, ascending.
Eigen::VectorXd symmetric_eigenvalues(Matrix a);

struct SymmetricEigenpairs {
  Eigen::VectorXd values;  // ascending
  Matrix vectors;
};
SymmetricEigenpairs symmetric_eigenpairs(Matrix a);

}  // namespace spectralcls
