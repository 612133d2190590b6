// One registrar for each area of the core. The bindings contain no mathematics.
#pragma once

#include <pybind11/pybind11.h>

namespace spectralcls::bindings {

void register_conformal(pybind11::module_&);
void register_eigen(pybind11::module_&);
void register_equal_rows(pybind11::module_&);
void register_kernels(pybind11::module_&);
void register_knn(pybind11::module_&);
void register_trees(pybind11::module_&);
void register_vectors(pybind11::module_&);

}  // namespace spectralcls::bindings
