#pragma once

#include <pybind11/pybind11.h>

namespace spectralcls::bindings {

void register_eigen(pybind11::module_& module);

inline void register_all(pybind11::module_& module) { register_eigen(module); }

}  // namespace spectralcls::bindings
