#pragma once

#include <pybind11/pybind11.h>

namespace spectralcls::bindings {

inline void register_all(pybind11::module_&) {}

}  // namespace spectralcls::bindings
