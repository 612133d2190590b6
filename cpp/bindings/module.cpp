// One registrar per area; each returns quickly and knows no mathematics.
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

PYBIND11_MODULE(SPECTRALCLS_MODULE, module) {
  module.doc() = "The compiled core of spectralcls, for one instruction set.";
  module.def("build_info", &spectralcls::bindings::build_info);
  spectralcls::bindings::register_all(module);
}
