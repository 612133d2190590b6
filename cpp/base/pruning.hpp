// Whether to look for pairs that can be pruned.
#pragma once

#include <cstdint>
#include <functional>

#include "base/matrix.hpp"

namespace spectralcls::detail {

// Samples decide, unless tests and measurements want it always or never.
enum class Pruning { sampled, always, never };
Pruning pruning();
void set_pruning(Pruning choice);

// How far a query sees whose nearest point is `least` away, at a scale; both squared and scaled.
using SquaredReach = std::function<double(double scale, double least)>;

// Labels of points that are seen apart: how far a query sees then depends on the nearest point of each. Those below
// zero are left out; nullptr: all are seen together.
struct SeparateLabels {
  const std::int64_t* labels = nullptr;
  int n_labels = 1;
};

// Whether to build a filter for these pairs: one that costs `pair_cost` each without it.
template <class T>
bool filter_pays(MatrixView<T> queries, MatrixView<T> points, const SeparateLabels& apart, double length_scale,
                 double pair_cost, const SquaredReach& squared_reach);

}  // namespace spectralcls::detail
