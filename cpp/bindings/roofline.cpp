#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

double multiply_add_rate(const py::dtype& dtype, double seconds, int n_threads) {
  const bool single = dtype.itemsize() == sizeof(float);
  const Execution run = execution(n_threads);
  double rate = 0;
  without_gil([&] {
    rate = single ? functions<float>().multiply_add_rate(seconds, run) : functions<double>().multiply_add_rate(seconds, run);
  });
  return rate;
}

}  // namespace

void register_roofline(py::module_& module) {
  module.def("multiply_add_rate", &multiply_add_rate, py::arg("dtype"), py::arg("seconds"), py::arg("n_threads"));
  module.def("lanes", [](const py::dtype& dtype) { return function_table().vector_bytes / static_cast<int>(dtype.itemsize()); },
             py::arg("dtype"));
}

}  // namespace spectralcls::bindings
