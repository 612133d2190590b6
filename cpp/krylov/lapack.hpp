// The LAPACK routines that the core calls. They are SciPy's; bindings/lapack.pyx passes them in.
#pragma once

namespace spectralcls {

struct Lapack {
  // Takes LAPACK's scalar arguments by value and returns `info`.
  int (*dsyevd)(char job, int n, double* a, double* values, double* work, int n_work, int* integer_work,
                int n_integer_work);
};
void use_lapack(const Lapack& routines);

constexpr const char* lapack_capsule = "spectralcls.Lapack";

}  // namespace spectralcls
