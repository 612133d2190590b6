// The extension module. It loads a variant of the core, keeps the limit on threads, and calls one registrar for each
// area.
#include <algorithm>
#include <atomic>
#include <thread>

#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// The limit on threads for calls that do not specify their number; 0: no limit. threadpoolctl sets the limit.
std::atomic<int> thread_limit{0};

void load(const std::string& path) {
  try {
    load_variant(path);
  } catch (const std::runtime_error& error) {
    throw py::import_error(error.what());
  }
}

void set_pruning(const py::object& given) {
  const std::string choice = name_of(given, "choice");
  if (choice != "sampled" && choice != "always" && choice != "never")
    refuse("choice must be 'sampled', 'always' or 'never', got '" + choice + "'.");
  using detail::Pruning;
  function_table().set_pruning(choice == "always"  ? Pruning::always
                               : choice == "never" ? Pruning::never
                                                   : Pruning::sampled);
}

py::dict build_info() {
  const FunctionTable& table = function_table();
  py::dict info;
  info["variant"] = table.variant;
  info["compiler"] = table.compiler;
  info["flags"] = table.flags;
  return info;
}

}  // namespace
}  // namespace spectralcls::bindings

// The two functions that threadpoolctl calls; see spectralcls/_core/threads.py.
extern "C" {
PYBIND11_EXPORT int spectralcls_get_num_threads() {
  const int limit = spectralcls::bindings::thread_limit;
  return limit > 0 ? limit : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}
PYBIND11_EXPORT void spectralcls_set_num_threads(int n) { spectralcls::bindings::thread_limit = n; }
}

// The module needs no GIL. The variant and the LAPACK routines are set once, during import. The settings that may
// change later, the limit on threads and the choice of pruning, are atomic.
PYBIND11_MODULE(_bindings, module, pybind11::mod_gil_not_used()) {
  using namespace spectralcls::bindings;
  module.doc() = "Bindings of the compiled core: the functions of one instruction-set variant, which load() chooses.";
  module.def("supported_variants", &spectralcls::supported_variants);
  module.def("load", &load, py::arg("path"));
  module.def("build_info", &build_info);
  module.def("set_pruning", &set_pruning, py::arg("choice"));
  module.def("thread_limit", [] { return thread_limit.load(); });
  register_conformal(module);
  register_eigen(module);
  register_equal_rows(module);
  register_kernels(module);
  register_knn(module);
  register_trees(module);
  register_vectors(module);
}
