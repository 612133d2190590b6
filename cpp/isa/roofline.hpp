// The machine's limit, measured: what every percentage of the benchmarks refers to.
#pragma once

#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Vector multiply-adds of T a second on n_threads threads together, in this variant's instruction set and vector width
// (a multiplication and an addition where it has no fused one). Takes about `seconds`.
template <class T>
double multiply_add_rate(double seconds, const Execution& execution);

}  // namespace spectralcls
