#pragma once

#include <pybind11/pybind11.h>

namespace spectralcls::bindings {

void register_eigen(pybind11::module_&);
void register_kernels(pybind11::module_&);
void register_knn(pybind11::module_&);
void register_panel(pybind11::module_&);
void register_roofline(pybind11::module_&);
void register_tolerance_sums(pybind11::module_&);

inline void register_all(pybind11::module_& module) {
  register_eigen(module);
  register_kernels(module);
  register_knn(module);
  register_panel(module);
  register_roofline(module);
  register_tolerance_sums(module);
}

}  // namespace spectralcls::bindings
