// The one door between NumPy and the core: typed views without copies, results allocated under the GIL.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "isa/loader.hpp"

namespace spectralcls::bindings {

namespace py = pybind11;

// C-contiguous, exactly this dtype: the Python layer converts, so a mismatch here is a programming error there.
template <class T>
using Array = py::array_t<T, py::array::c_style>;

// Two dimensions, C-contiguous.
template <class T>
MatrixView<T> matrix(const Array<T>& array) {
  if (array.ndim() != 2) throw std::invalid_argument("expected a matrix");
  return {array.data(), array.shape(0), array.shape(1)};
}

// True once Ctrl-C was pressed; called by the core on the calling thread only, with the GIL released.
inline Execution execution(int n_threads) {
  return {n_threads, [] {
            py::gil_scoped_acquire gil;
            return PyErr_CheckSignals() != 0;
          }};
}

// Runs one numeric call of the core without the GIL. Safe because the arrays are held by the caller's
// references and the core touches nothing of Python except through `interrupted`.
template <class Call>
void without_gil(Call&& call) {
  try {
    py::gil_scoped_release release;
    call();
  } catch (const Interrupted&) {
    throw py::error_already_set();  // KeyboardInterrupt, set by PyErr_CheckSignals
  }
}

// Calls f(float{}) or f(double{}) for the dtype of a float32 or float64 array. Equal dtypes need not be the same object:
// those of unpickled arrays are their own.
template <class F>
auto dispatch(const py::array& array, F&& f) {
  if (py::isinstance<py::array_t<float>>(array)) return f(float{});
  if (py::isinstance<py::array_t<double>>(array)) return f(double{});
  throw std::invalid_argument("expected float32 or float64, got " + std::string(py::str(array.dtype())));
}

}  // namespace spectralcls::bindings
