// One registrar per area; each returns quickly and knows no mathematics.
#include <algorithm>
#include <thread>

#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

py::dict build_info() {
  py::dict info;
  info["variant"] = SPECTRALCLS_VARIANT;
  info["compiler"] = SPECTRALCLS_COMPILER;
  info["flags"] = SPECTRALCLS_FLAGS;
  return info;
}

}  // namespace
}  // namespace spectralcls::bindings

// The two functions that threadpoolctl calls; see spectralcls._threadpool.
extern "C" {
PYBIND11_EXPORT int spectralcls_get_num_threads() {
  const int limit = spectralcls::thread_limit;
  return limit > 0 ? limit : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}
PYBIND11_EXPORT void spectralcls_set_num_threads(int n) { spectralcls::thread_limit = n; }
}

PYBIND11_MODULE(SPECTRALCLS_MODULE, module) {
  module.doc() = "The compiled core of spectralcls, for one instruction set.";
  module.def("build_info", &spectralcls::bindings::build_info);
  module.def("thread_limit", [] { return spectralcls::thread_limit.load(); });
  spectralcls::bindings::register_all(module);
}
