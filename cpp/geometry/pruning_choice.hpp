// The choice whether pairs are pruned: if samples suggest it, always, or never.
#pragma once

namespace spectralcls::detail {

// Samples decide, except in tests and measurements.
enum class Pruning { sampled, always, never };
Pruning pruning();
void set_pruning(Pruning choice);

}  // namespace spectralcls::detail
