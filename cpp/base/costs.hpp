// What steps cost in each variant: the constants by which one of several ways to the same answer is chosen, all of them.
// They decide how long a call takes, never how exact it is.
//
// The row of AVX-512 was measured by hand; those of AVX2 and the baseline are that row scaled by the width of a vector.
// `python -m bench.calibrate` measures all of them and writes them here: on another kind of machine, run it and build again.
// They are constants of the build, not of the moment, so that equal calls return equal bits.
#pragma once

#include "base/matrix.hpp"
#include "base/simd.hpp"

namespace spectralcls {

// Nanoseconds of one core.
struct Costs {
  double pair_32, feature_32;  // of the fused sums: a pair, and each of its features, in float32
  double pair_64, feature_64;  // and in float64
  // Of approximate sums: a pair within the radius, each of its features and columns; a cell's neighborhood looked up; a
  // point's stencil, for each axis; a vector of lattice points that is multiplied and added; a row sorted and copied.
  double near_pair, near_feature, near_column, group, stencil, lattice_vector, row;
};

namespace variants {
inline constexpr Costs avx512{0.192, 0.016, 0.576, 0.032, 0.5, 0.1, 0.1, 4000, 25, 0.6, 60};
inline constexpr Costs avx2{0.384, 0.032, 1.152, 0.064, 1, 0.2, 0.2, 4000, 25, 0.6, 60};
inline constexpr Costs baseline{0.96, 0.08, 2.88, 0.16, 2.5, 0.5, 0.5, 4000, 25, 0.6, 60};
}  // namespace variants

inline constexpr const Costs& costs = vector_bytes == 64 ? variants::avx512 : vector_bytes == 32 ? variants::avx2 : variants::baseline;

// Of what skipping does, in multiply-adds on whole vectors, so that a variant's speed cancels: a vector of coordinates in
// the filter of tiles, and of the boxes of all tiles; beyond the multiply-adds of a vector of distances, its kernel values
// and their sum, or looking through it for neighbors; a pair by itself, and each vector or feature of it.
struct SkippingCosts {
  double filter = 1.8, box = 4;
  double form = 2, kernel = 18, summed_pair = 16, summed_pair_vector = 4;  // in sums
  double scan = 4, exact_pair = 60, exact_pair_feature = 0.7;              // in searches for neighbors
};
inline constexpr SkippingCosts skipping_costs{};

// Multiply-adds on single numbers: of building the filter, for each point, from runs on shuttle and covertype; and of a
// pair beyond its features, as of all others. They decide what is tried, never a result.
struct FilterCosts {
  static double build(index_t d) { return 12000 + 700 * static_cast<double>(d); }
  static double sample(index_t d) { return 3.2e7 + 1.2e6 * static_cast<double>(d); }  // the largest sample that decides
  static constexpr double sampling = 0.012;  // what the sample may take relative to all pairs
  static constexpr double coordinate = 1.8, box = 0.2, pair = 320;
  static constexpr double gain = 0.8;  // the filter is tried if it is to take no more than this relative to all pairs
};

}  // namespace spectralcls
