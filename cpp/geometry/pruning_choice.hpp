// The choice whether pairs are pruned: always, never, or if samples suggest that pruning pays off.
#pragma once

namespace spectralcls::detail {

// Samples decide, except in tests and measurements.
enum class Pruning { sampled, always, never };
Pruning pruning();
void set_pruning(Pruning choice);

}  // namespace spectralcls::detail
