#include "krylov/dense.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "krylov/lapack.hpp"

namespace spectralcls {
namespace {

Lapack lapack{};

// Returns the eigenvalues of `a` in ascending order. Overwrites `a` with its eigenvectors if job is 'V'.
Eigen::VectorXd solve(char job, Matrix& a) {
  const auto n = a.rows();
  const bool vectors = job == 'V';
  if (n > 30000) throw std::length_error("a dense eigenproblem of this size is beyond LAPACK's integers");
  if (!a.allFinite()) throw std::runtime_error("the operator's answers are not finite");
  std::vector<double> work(vectors ? 1 + 6 * n + 2 * n * n : 2 * n + 1);
  std::vector<int> integer_work(vectors ? 3 + 5 * n : 1);
  Eigen::VectorXd values(n);
  const int info =
      lapack.dsyevd(job, static_cast<int>(n), a.data(), values.data(), work.data(), static_cast<int>(work.size()),
                    integer_work.data(), static_cast<int>(integer_work.size()));
  if (info != 0) throw std::runtime_error("a dense eigenproblem did not converge");
  return values;
}

}  // namespace

void use_lapack(const Lapack& routines) { lapack = routines; }

Eigen::VectorXd symmetric_eigenvalues(Matrix a) { return solve('N', a); }

SymmetricEigenpairs symmetric_eigenpairs(Matrix a) {
  Eigen::VectorXd values = solve('V', a);
  return {std::move(values), std::move(a)};
}

}  // namespace spectralcls
