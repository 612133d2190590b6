// Kernel sums by the method that is predicted to be the fastest: on a grid, or over the pairs that matter.
#pragma once

#include "sums/kernel_sums.hpp"

namespace spectralcls {

// Computes the sums of a request as KernelSums::compute() does.
//
// Gaussian sums in few features are computed on a grid if that is predicted to be faster. Sums whose error may be too
// large are then computed over all pairs. Without a tolerance, the sum of a label is too inaccurate if its error may
// exceed that of rounding. Otherwise, the sums of a query are too inaccurate if the errors of all labels may add up to
// more than atol + rtol times the sum of the absolute terms of all labels. In few features, only the grid uses a
// tolerance.
template <class T>
void planned_sums(const KernelSums<T>& request, Form form, T* log_scale, T* sums, const Execution& execution);

}  // namespace spectralcls
