#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// Distinguishes float32 from float64 by size, because equal dtypes need not be the same object.
int size_of(const py::dtype& dtype) {
  if (dtype.kind() != 'f' || (dtype.itemsize() != 4 && dtype.itemsize() != 8))
    refuse("dtype must be float32 or float64, got " + std::string(py::str(dtype)) + ".");
  return static_cast<int>(dtype.itemsize());
}

double multiply_add_rate(const py::dtype& dtype, const py::object& duration, const py::object& n_threads) {
  const bool single = size_of(dtype) == sizeof(float);
  const double seconds = positive(duration, "seconds");
  const Execution run = execution(n_threads);
  double rate = 0;
  without_gil([&] {
    rate = single ? functions<float>().multiply_add_rate(seconds, run)
                  : functions<double>().multiply_add_rate(seconds, run);
  });
  return rate;
}

}  // namespace

void register_roofline(py::module_& module) {
  module.def("multiply_add_rate", &multiply_add_rate, py::arg("dtype"), py::arg("seconds"), py::arg("n_threads"));
  module.def(
      "lanes", [](const py::dtype& dtype) { return function_table().vector_bytes / size_of(dtype); }, py::arg("dtype"));
}

}  // namespace spectralcls::bindings
