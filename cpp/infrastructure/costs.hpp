// What steps cost in each variant: the constants by which one of several ways to the same answer is chosen, all of
// them. They decide how long a call takes, never how exact it is.
//
// `python -m bench.calibrate` measures the steps of pairs and writes them here: on another kind of machine, run it and
// build again. The last five of a row were set by hand so that its `--check` finds the right ways chosen. They are
// constants of the build, not of the moment, so that equal calls return equal bits.
#pragma once

#include "infrastructure/matrix.hpp"
#include "infrastructure/simd.hpp"

namespace spectralcls {

// Nanoseconds of one core.
struct Costs {
  double pair_32, feature_32;  // of the fused sums: a pair, and each of its features, in float32
  double pair_64, feature_64;  // and in float64
  // Of exact sums of few features: what a query takes besides, and a point that is pruned.
  double query, pruned;
  // Of sums on a grid: a point's stencil, for each axis; a vector of grid points that is multiplied and added; a row
  // sorted and copied.
  double stencil, gridding_vector, row;
};

namespace variants {
inline constexpr Costs avx512{0.174, 0.0209, 0.554, 0.0402, 130, 0.007, 25, 0.6, 60};
inline constexpr Costs avx2{0.416, 0.0257, 0.748, 0.0405, 130, 0.009, 25, 0.6, 60};
inline constexpr Costs baseline{0.862, 0.0495, 2.82, 0.0968, 200, 0.02, 25, 1.2, 60};
}  // namespace variants

inline constexpr const Costs& costs = vector_bytes == 64   ? variants::avx512
                                      : vector_bytes == 32 ? variants::avx2
                                                           : variants::baseline;

// Of what pruning does, in multiply-adds on whole vectors, so that a variant's speed cancels: a vector of coordinates
// in the filter of tiles, and of the boxes of all tiles; beyond the multiply-adds of a vector of distances, its kernel
// values and their sum, or looking through it for neighbors; a pair by itself, and each vector or feature of it; what a
// block of queries takes for each label whose points it sees apart from the others. Searches filter at a cost of their
// own, keep candidates for a while, and sort them out.
struct PruningCosts {
  double filter = 1.8, box = 4;
  double form = 2, kernel = 18, summed_pair = 16, summed_pair_vector = 4, pass = 2000;  // in sums
  double search_filter = 1.1, scan = 4, candidate = 60, exact_pair = 60,
         exact_pair_feature = 0.7;  // in searches for neighbors
};
inline constexpr PruningCosts pruning_costs{};

// Multiply-adds on single numbers: of building the filter, for each point, from runs on sets of 16 to 784 features; of
// a pair beyond its features, as of all others; of a query and a label seen apart. They decide what is tried, never a
// result.
struct FilterCosts {
  static double build(index_t d) { return 10000 + 280 * static_cast<double>(d); }
  static double sample(index_t d) { return 2.2e7 + 4e5 * static_cast<double>(d); }  // the largest sample that decides
  static double distance(index_t d) { return 200 + 1.5 * static_cast<double>(d); }  // of a pair by itself
  static constexpr double sampling = 0.018, measuring = 0.009;  // what a sample may take relative to all pairs
  static constexpr double coordinate = 1.8, box = 0.2, pair = 320, pass = 4000;
  // The filter is tried if it is to take no more than this relative to all pairs: by extrapolated distances to the
  // nearest points, which may promise so many times too much, or by measured ones.
  static constexpr double gain = 0.8, misjudged = 4, measured_gain = 0.88;
};

}  // namespace spectralcls
