// Whether measurements decide about pruning, or the caller does.
#pragma once

namespace spectralcls::detail {

// Samples decide, unless tests and measurements want it always or never.
enum class Pruning { sampled, always, never };
Pruning pruning();
void set_pruning(Pruning choice);

}  // namespace spectralcls::detail
