// The LAPACK routines that the core calls, and what hands them over: SciPy's, by bindings/lapack.pyx.
#pragma once

namespace spectralcls {

struct Lapack {
  // LAPACK's arguments by value; returns its info.
  int (*dsyevd)(char job, int n, double* a, double* values, double* work, int n_work, int* integer_work,
                int n_integer_work);
};
void use_lapack(const Lapack& routines);

constexpr const char* lapack_capsule = "spectralcls.Lapack";

}  // namespace spectralcls
