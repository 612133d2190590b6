// The measured limit of the machine. Percentages in the benchmarks refer to it.
#pragma once

#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Returns the vector multiply-adds of T per second on n_threads threads together, in the instruction set of this
// variant. Without a fused instruction, a multiplication and an addition count as one. Takes about `seconds`.
template <class T>
double multiply_add_rate(double seconds, const Execution& execution);

}  // namespace spectralcls
