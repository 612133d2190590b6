// Decides whether to prune pairs, for sums and for searches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "geometry/points.hpp"
#include "geometry/pruning_choice.hpp"
#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// Returns the squared radius within which points matter to a query, given the scale of the coordinates and the squared
// distance `least` of the nearest point. Both squared lengths are scaled.
using SquaredReach = std::function<double(double scale, double least)>;

// The labels of the points if each label has a separate search radius, which depends on the nearest point of the label.
// Points with negative labels are left out. nullptr: one radius for all points.
struct SeparateLabels {
  const std::int64_t* labels = nullptr;
  int n_labels = 1;
};

// Returns whether a filter of tiles may pay off, estimated from a sample of the pairs. Without the filter each pair
// costs `pair_cost` multiply-adds.
template <class T>
bool filter_may_pay(MatrixView<T> queries, MatrixView<T> points, const SeparateLabels& apart, const Lengths& lengths,
                    double pair_cost, const SquaredReach& squared_reach);

// The cost of some blocks of queries with the filter and without it, in the same unit.
struct TrialCost {
  double pruned = 0, all = 0;
};

// Returns make(true), a computation that prunes, if pruning pays off, and make(false) otherwise. may_pay() is called
// first, before any packing. If it returns true, a trial decides: trial(computation, places) computes one block of
// queries and returns its TrialCost. Up to twelve blocks, spread over all queries, are tried: at most a sixteenth of
// all blocks, but at least one.
template <class Make, class MayPay, class Trial>
auto prune_if_it_pays(index_t n_queries, Make&& make, MayPay&& may_pay, Trial&& trial) {
  constexpr index_t most_blocks = 12, least_share = 16;
  constexpr double gain = 0.9;  // the margin covers the trial and packing in another order
  const Pruning choice = pruning();
  if (choice == Pruning::never || (choice == Pruning::sampled && !may_pay())) return make(false);
  auto computation = make(true);
  if (choice == Pruning::always) return computation;
  const index_t n_blocks = std::clamp<index_t>(n_queries / (least_share * tile_rows), 1, most_blocks);
  TrialCost total;
  for (index_t i = 0; i < n_blocks; ++i) {
    const index_t begin = i * n_queries / n_blocks / tile_rows * tile_rows;
    const TrialCost one = trial(*computation, Range{begin, std::min<index_t>(begin + tile_rows, n_queries)});
    total.pruned += one.pruned;
    total.all += one.all;
  }
  return total.pruned < gain * total.all ? std::move(computation) : make(false);
}

}  // namespace spectralcls::detail
