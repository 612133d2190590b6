#include "spectralcls/roofline.hpp"

#include "arrays.hpp"
#include "registrars.hpp"
#include "spectralcls/simd.hpp"

namespace spectralcls::bindings {

void register_roofline(py::module_& module) {
  module.def("multiply_add_rate", [](const py::dtype& dtype, double seconds, int n_threads) {
    const bool single = dtype.is(py::dtype::of<float>());
    double rate = 0;
    const Execution run = execution(n_threads);
    without_gil([&] { rate = single ? multiply_add_rate<float>(seconds, run) : multiply_add_rate<double>(seconds, run); });
    return rate;
  }, py::arg("dtype"), py::arg("seconds"), py::arg("n_threads"));
  module.def("lanes", [](const py::dtype& dtype) { return vector_bytes / static_cast<int>(dtype.itemsize()); }, py::arg("dtype"));
}

}  // namespace spectralcls::bindings
