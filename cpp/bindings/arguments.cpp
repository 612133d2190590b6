#include "arguments.hpp"

#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <sstream>

namespace spectralcls::bindings {
namespace {

std::string described(const py::handle& given) {
  if (!py::isinstance<py::array>(given)) return std::string(py::repr(given)).substr(0, 80);
  const auto array = py::reinterpret_borrow<py::array>(given);
  return "an array of dtype " + std::string(py::str(array.dtype())) + " and shape " + shape_of(array);
}

// Accepts the integers of Python and NumPy, but no Booleans.
py::int_ python_integer(const py::handle& given, const char* name) {
  if (PyBool_Check(given.ptr()) || !PyIndex_Check(given.ptr())) refuse_type(name, "an integer", given);
  return py::reinterpret_steal<py::int_>(PyNumber_Index(given.ptr()));
}

// Returns the value, clamped to the range of index_t.
index_t saturated(const py::int_& value) {
  int overflow = 0;
  const long long exact = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return static_cast<index_t>(exact);
  return overflow > 0 ? std::numeric_limits<index_t>::max() : std::numeric_limits<index_t>::min();
}

double physical_memory() {
#if defined(_WIN32)
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return static_cast<double>(status.ullTotalPhys);
#else
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
#endif
}

}  // namespace

void refuse_type(const char* name, const std::string& expected, const py::handle& given) {
  throw py::type_error(std::string(name) + " must be " + expected + ", got " + described(given) + ".");
}

std::string shape_of(const py::array& array) { return py::str(array.attr("shape")); }

std::string text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

index_t integer(const py::handle& given, const char* name, index_t least, index_t most) {
  const py::int_ exact = python_integer(given, name);
  const index_t value = saturated(exact);
  if (value < least || value > most)
    refuse(std::string(name) + " must be in " + std::to_string(least) + " ... " + std::to_string(most) + ", got " +
           std::string(py::str(exact)) + ".");
  return value;
}

index_t at_most(const py::handle& given, const char* name, index_t least) {
  const py::int_ exact = python_integer(given, name);
  const index_t value = saturated(exact);
  if (value < least)
    refuse(std::string(name) + " must be at least " + std::to_string(least) + ", got " + std::string(py::str(exact)) +
           ".");
  return std::min(value, index_t{1} << 40);
}

double real(const py::handle& given, const char* name) {
  double value = PyBool_Check(given.ptr()) ? -1 : PyFloat_AsDouble(given.ptr());
  if (value == -1 && (PyErr_Occurred() || PyBool_Check(given.ptr()))) {
    const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError);
    PyErr_Clear();
    if (!too_large) refuse_type(name, "a number", given);
    value = std::numeric_limits<double>::infinity();
  }
  return value;
}

double number(const py::handle& given, const char* name, double least) {
  const double value = real(given, name);
  if (!std::isfinite(value) || value < least)
    refuse(std::string(name) + " must be finite" + (least >= 0 ? " and at least " + text(least) : "") + ", got " +
           text(value) + ".");
  return value;
}

double positive(const py::handle& given, const char* name) {
  const double value = number(given, name);
  if (value <= 0) refuse(std::string(name) + " must be positive and finite, got " + text(value) + ".");
  return value;
}

bool truth(const py::handle& given, const char* name) {
  if (!PyBool_Check(given.ptr())) refuse_type(name, "True or False", given);
  return given.ptr() == Py_True;
}

std::string name_of(const py::handle& given, const char* name) {
  if (!py::isinstance<py::str>(given)) refuse_type(name, "a string", given);
  return py::reinterpret_borrow<py::str>(given);
}

Integers integers(const py::handle& given, const char* name, index_t size, index_t least, index_t most) {
  if (given.is_none()) return std::nullopt;
  auto values = vector<std::int64_t>(given, name, size);
  if (size == 0) return values;
  const auto [low, high] = std::minmax_element(values.data(), values.data() + size);
  if (*low < least || *high > most) {
    const bool below = *low < least;
    const std::string range = least == no_least ? "at most " : "in " + std::to_string(least) + " ... ";
    refuse(std::string(name) + " must be " + range + std::to_string(most) + ", got " +
           std::to_string(below ? *low : *high) + ".");
  }
  return values;
}

void check_memory(const std::vector<index_t>& counts, std::size_t bytes, const char* what) {
  double size = static_cast<double>(bytes);
  for (const index_t count : counts) size *= static_cast<double>(count);
  const double memory = physical_memory();
  if (size <= memory) return;
  std::string shape;
  for (const index_t count : counts) shape += (shape.empty() ? "" : " x ") + std::to_string(count);
  const std::string sentence = std::string(what) + " (" + shape + ") would take " + text(size / 1e9) +
                               " GB, but this machine has " + text(memory / 1e9) + " GB of memory.";
  PyErr_SetString(PyExc_MemoryError, sentence.c_str());
  throw py::error_already_set();
}

Execution execution(const py::handle& n_threads) {
  const index_t threads = std::min<index_t>(at_most(n_threads, "n_jobs"), std::numeric_limits<int>::max());
  // All copies of the lambda share the time of the last check. A call with many short parallel regions therefore checks
  // as rarely as a call with one long region.
  using Clock = std::chrono::steady_clock;
  static constexpr auto interval = std::chrono::milliseconds(100);
  return {static_cast<int>(threads),
          [last = std::make_shared<Clock::time_point>(Clock::now())] {
            const auto now = Clock::now();
            if (now - *last < interval) return false;
            *last = now;
            py::gil_scoped_acquire gil;
            return PyErr_CheckSignals() != 0;
          },
          threads > 1 ? make_team() : nullptr};
}

}  // namespace spectralcls::bindings
