// Conversion of arguments from Python. The bindings are the only interface between Python and the core. They check
// every argument, raise errors that name it, and allocate results under the GIL.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "isa/loader.hpp"

namespace spectralcls::bindings {

namespace py = pybind11;

constexpr index_t no_limit = std::numeric_limits<index_t>::max(), no_least = std::numeric_limits<index_t>::min();

// Aligned arrays of the dtype of T. Array is C-contiguous, ColumnMajorArray is Fortran-contiguous.
template <class T>
using Array = py::array_t<T, py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_>;
template <class T>
using ColumnMajorArray = py::array_t<T, py::array::f_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_>;

[[noreturn]] inline void refuse(const std::string& sentence) { throw py::value_error(sentence); }
[[noreturn]] void refuse_type(const char* name, const std::string& expected, const py::handle& given);

std::string shape_of(const py::array& array);  // "(3, 2)"
std::string text(double value);

// Returns `given`, which must be True or False.
bool truth(const py::handle& given, const char* name);
// Returns `given` as an integer, which must be in [least, most].
index_t integer(const py::handle& given, const char* name, index_t least, index_t most);
// Returns `given` as an integer that serves as a limit. It must be at least `least`; values above 2^40 become 2^40.
index_t at_most(const py::handle& given, const char* name, index_t least = 1);
// Returns `given` as a number, which may be infinite or NaN.
double real(const py::handle& given, const char* name);
// Returns `given` as a finite number, which must be at least `least`.
double number(const py::handle& given, const char* name, double least = -std::numeric_limits<double>::max());
// Returns `given` as a finite number, which must be above zero.
double positive(const py::handle& given, const char* name);

std::string name_of(const py::handle& given, const char* name);  // must be a str

// Returns `given`, which must be an object of the core.
template <class Kept>
const Kept& kept(const py::handle& given, const char* name, const char* expected) {
  if (!py::isinstance<Kept>(given)) refuse_type(name, expected, given);
  return given.cast<const Kept&>();
}

// Returns an array of the dtype of T with least_dimensions to most_dimensions dimensions. Copies an array whose layout
// or alignment is not that of `Checked`.
template <class T, class Checked = Array<T>>
Checked array(const py::handle& given, const char* name, int least_dimensions, int most_dimensions) {
  if (!py::isinstance<py::array_t<T>>(given))
    refuse_type(name, "a NumPy array of dtype " + std::string(py::str(py::dtype::of<T>())), given);
  Checked checked = Checked::ensure(given);
  if (!checked) throw py::error_already_set();
  if (checked.ndim() < least_dimensions || checked.ndim() > most_dimensions)
    refuse(std::string(name) + " must have " + std::to_string(least_dimensions) +
           (least_dimensions == most_dimensions ? "" : " to " + std::to_string(most_dimensions)) +
           " dimensions, got shape " + shape_of(checked) + ".");
  return checked;
}

// Returns a matrix with at least one column.
template <class T>
Array<T> matrix(const py::handle& given, const char* name) {
  Array<T> checked = array<T>(given, name, 2, 2);
  if (checked.shape(1) == 0)
    refuse(std::string(name) + " must have at least one column, got shape " + shape_of(checked) + ".");
  return checked;
}
template <class T>
MatrixView<T> view(const Array<T>& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

// Refuses an array with NaN or infinity.
template <class T>
void check_finite(const Array<T>& given, const char* name) {
  const T largest = functions<T>().largest_size(given.data(), given.size());
  if (std::isfinite(largest)) return;
  refuse("Input " + std::string(name) + " contains " + (std::isnan(largest) ? "NaN." : "infinity."));
}

// Returns a matrix of finite numbers with at least one column.
template <class T>
Array<T> finite_matrix(const py::handle& given, const char* name) {
  Array<T> checked = matrix<T>(given, name);
  check_finite(checked, name);
  return checked;
}

// Returns a vector with `size` entries.
template <class T>
Array<T> vector(const py::handle& given, const char* name, index_t size) {
  Array<T> checked = array<T>(given, name, 1, 1);
  if (checked.shape(0) != size)
    refuse(std::string(name) + " must have " + std::to_string(size) + " entries, got " +
           std::to_string(checked.shape(0)) + ".");
  return checked;
}

// A vector of integers, or std::nullopt for None.
using Integers = std::optional<Array<std::int64_t>>;
// Returns a vector of `size` integers in [least, most], or std::nullopt for None.
Integers integers(const py::handle& given, const char* name, index_t size, index_t least, index_t most);
inline const std::int64_t* data(const Integers& values) { return values ? values->data() : nullptr; }

// Returns an array that the core fills in place. The argument must have exactly this shape, dtype and layout.
template <class T>
Array<T> output(const py::handle& given, const char* name, index_t rows, index_t columns) {
  if (py::isinstance<py::array_t<T>>(given)) {
    const auto whole = Array<T>::ensure(given);
    if (whole.ptr() == given.ptr() && whole.writeable() && whole.ndim() == 2 && whole.shape(0) == rows &&
        whole.shape(1) == columns)
      return whole;
  }
  refuse(std::string(name) + " must be a writeable, aligned, C-contiguous array of shape (" + std::to_string(rows) +
         ", " + std::to_string(columns) + ") and dtype " + std::string(py::str(py::dtype::of<T>())) + ".");
}

// Raises a MemoryError that names `what` if an array of shape `counts`, with `bytes` per element, needs more memory
// than the machine has.
void check_memory(const std::vector<index_t>& counts, std::size_t bytes, const char* what);

template <class T>
Array<T> allocate(const std::vector<index_t>& shape, const char* what) {
  check_memory(shape, sizeof(T), what);
  return Array<T>(std::vector<py::ssize_t>(shape.begin(), shape.end()));
}

template <class T>
Array<T> to_array(const std::vector<T>& values) {
  return Array<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Returns an Execution on at most n_threads threads, which Ctrl-C can interrupt. The calling thread runs without the
// GIL and takes the GIL at most ten times a second to check for signals.
Execution execution(const py::handle& n_threads);

// Runs a numeric call of the core without the GIL. The caller's references keep the arrays alive. Callbacks that need
// Python take the GIL themselves.
template <class Call>
void without_gil(Call&& call) {
  try {
    py::gil_scoped_release release;
    call();
  } catch (const Interrupted&) {
    throw py::error_already_set();  // KeyboardInterrupt, set by PyErr_CheckSignals
  }
}

// Calls f(float{}) or f(double{}) for the dtype of a float32 or float64 array. Dtypes are compared by value, because
// unpickled arrays have separate dtype objects.
template <class F>
auto dispatch(const py::handle& given, const char* name, F&& f) {
  if (py::isinstance<py::array_t<float>>(given)) return f(float{});
  if (py::isinstance<py::array_t<double>>(given)) return f(double{});
  refuse_type(name, "a NumPy array of dtype float32 or float64", given);
}

}  // namespace spectralcls::bindings
