// Axis-parallel boxes around blocks of queries and tiles of points. A box in d dimensions consists of d lows, then d
// highs, scaled by the geometry.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/points.hpp"

namespace spectralcls {

// Returns the boxes of all blocks of packed queries, one after the other.
template <class T>
std::vector<T> boxes_of_blocks(const PackedQueries<T>& queries) {
  const index_t d = queries.d;
  std::vector<T> boxes(queries.n_blocks * 2 * d);
  for (index_t b = 0; b < queries.n_blocks; ++b)
    for (index_t k = 0; k < d; ++k) {
      const T* values = queries.block(DistanceForm::product, b) + k * tile_rows;  // holds -2 q
      const auto [low, high] = std::minmax_element(values, values + tile_rows);
      boxes[b * 2 * d + k] = *high * T(-0.5);
      boxes[b * 2 * d + d + k] = *low * T(-0.5);
    }
  return boxes;
}

// Returns a lower bound on the squared distance between a point of one box and a point of the other. The bound allows
// for the rounding of the boxes.
template <class T>
double squared_gap(const T* a, const T* b, index_t d) {
  double squared = 0;
  for (index_t k = 0; k < d; ++k) {
    const double a_low = a[k], a_high = a[d + k], b_low = b[k], b_high = b[d + k];
    const double rounding = 4 * std::numeric_limits<T>::epsilon() * (1 + std::abs(a_low) + std::abs(a_high));
    const double gap = std::max(b_low - a_high, a_low - b_high) - rounding;
    if (gap > 0) squared += gap * gap;
  }
  return squared;
}

}  // namespace spectralcls
