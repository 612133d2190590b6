// Labels without the exact sums of classes that cannot win, by the method that is predicted to be the fastest.
#pragma once

#include "sums/kernel_sums.hpp"
#include "sums/label_rule.hpp"

namespace spectralcls {

// Fills `labels` (m,) with the labels that the rule certainly gives from the exact sums of a request at one bandwidth,
// and with `uncertain_label` for the other queries. `rtol` is the error allowed in sums over pairs. Weights must not be
// negative, and no query may leave out a point. Returns false, and no label is certain, if exact sums are predicted to
// be as fast.
template <class T>
bool planned_labels(const KernelSums<T>& request, const LabelRule& rule, std::int64_t* labels,
                    const Execution& execution);

}  // namespace spectralcls
