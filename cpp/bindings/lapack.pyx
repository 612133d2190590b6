# cython: freethreading_compatible=True
"""SciPy's LAPACK for the compiled core, which contains none."""

from cpython.pycapsule cimport PyCapsule_New
from scipy.linalg.cython_lapack cimport dsyevd

cdef extern from "krylov/lapack.hpp" namespace "spectralcls" nogil:
    cdef struct Lapack:
        int (*dsyevd)(char, int, double*, double*, double*, int, int*, int) noexcept nogil
    const char* lapack_capsule


cdef int _dsyevd(char job, int n, double* a, double* values, double* work, int n_work, int* integer_work,
                 int n_integer_work) noexcept nogil:
    cdef char triangle = b"L"
    cdef int info = 0
    dsyevd(&job, &triangle, &n, a, &n, values, work, &n_work, integer_work, &n_integer_work, &info)
    return info


cdef Lapack _routines
_routines.dsyevd = _dsyevd

routines = PyCapsule_New(&_routines, lapack_capsule, NULL)
