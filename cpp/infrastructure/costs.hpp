// Estimated costs of the steps of a computation, for each variant. They decide which of several methods is used, and
// thus affect the time of a call, never its accuracy.
//
// `python -m bench.calibrate` measures the first four numbers of each row and writes the rows into this file. To tune
// the constants for another machine, run the command on that machine and build again. The last four numbers of a row
// are set by hand, and `--check` tests the choices that follow from them. The constants are fixed at build time, so
// identical calls return the same bits.
#pragma once

#include "infrastructure/matrix.hpp"
#include "infrastructure/simd.hpp"

namespace spectralcls {

// Nanoseconds on one core.
struct Costs {
  double pair_32, feature_32;  // fused sums in float32: a pair, and each of its features
  double pair_64, feature_64;  // fused sums in float64
  // Exact sums with few features: the overhead of a query, and the cost of a pruned point.
  double query, pruned;
  // Sums on a grid: computing a vector of the stencil of a point along one axis; multiplying and adding a vector of
  // grid points. Sorting the rows and writing the sums take about as long as for exact sums.
  double stencil, gridding_vector;

  // A pair of a query and a point with d features.
  constexpr double pair(index_t d, bool single_precision) const {
    return single_precision ? pair_32 + feature_32 * static_cast<double>(d)
                            : pair_64 + feature_64 * static_cast<double>(d);
  }
};

namespace variants {
inline constexpr Costs avx512{0.0874, 0.00893, 0.253, 0.0183, 65, 0.0035, 5.4, 0.6};
inline constexpr Costs avx2{0.18, 0.0171, 0.546, 0.0333, 75, 0.0045, 5.4, 0.38};
inline constexpr Costs baseline{0.603, 0.0446, 1.93, 0.0861, 135, 0.0135, 5.4, 0.45};
}  // namespace variants

inline constexpr const Costs& costs = vector_bytes == 64   ? variants::avx512
                                      : vector_bytes == 32 ? variants::avx2
                                                           : variants::baseline;

// The costs of pruning, in multiply-adds on a whole vector. In this unit, the speed of a variant cancels.
struct PruningCosts {
  // The filter: comparing a query with a vector of points along one coordinate, in sums and in searches; comparing a
  // block of queries with a vector of box bounds.
  double filter = 1.8, search_filter = 1.1, box = 4;
  // Sums: one feature of a vector of distances; the kernel values of such a vector, and their sum.
  double form = 2, kernel = 18;
  // Sums: the overhead of a single pair; each vector of its features.
  double summed_pair = 16, summed_pair_vector = 4;
  // Sums: the overhead of a block of queries for each label with a separate search radius.
  double pass = 2000;
  // Searches: comparing a vector of distances with limits; keeping a candidate; the overhead of an exact distance; each
  // feature of an exact distance.
  double scan = 4, candidate = 60, exact_pair = 60, exact_pair_feature = 0.7;
};
inline constexpr PruningCosts pruning_costs{};

// Costs in multiply-adds on single numbers, measured on data sets with 16 to 784 features. They decide only whether the
// filter is tried.
struct FilterCosts {
  static double build(index_t d) { return 10000 + 280 * static_cast<double>(d); }   // the filter, for each point
  static double sample(index_t d) { return 2.2e7 + 4e5 * static_cast<double>(d); }  // the largest sample
  static double distance(index_t d) { return 200 + 1.5 * static_cast<double>(d); }  // an exact distance
  // Taking a sample and measuring distances may each cost up to this fraction of the cost of all pairs.
  static constexpr double sampling = 0.018, measuring = 0.009;
  // The costs of reading a coordinate or a box, computing a pair, and starting a label with a separate search radius.
  static constexpr double coordinate = 1.8, box = 0.2, pair = 320, pass = 4000;
  // The filter is tried only if its predicted cost is below `gain` times the cost of all pairs. The prediction
  // extrapolates the distances to the nearest points and may be too low by the factor `misjudged`. If this factor could
  // change the decision, distances are measured, and the cost predicted from them must be below `measured_gain` times
  // the cost of all pairs.
  static constexpr double gain = 0.8, misjudged = 4, measured_gain = 0.88;
};

}  // namespace spectralcls
