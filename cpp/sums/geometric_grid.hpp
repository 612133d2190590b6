// Several Gaussian bandwidths from one exponential: halving h^2 squares the kernel value.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace spectralcls {

// The steps of one grid, rates[i + 1] = 2 rates[i], as positions among the bandwidths.
struct GeometricGrid {
  double rate;
  std::vector<int> positions;
};

// The largest number of steps of one grid. Longer grids are split, and each part starts with a new exponential, because
// each squaring doubles the relative error.
template <class T>
constexpr int longest_grid = sizeof(T) == 4 ? 5 : 8;

// Covers all rates by grids, which may be interleaved: a grid of ratio 2^(1/3) makes three.
inline std::vector<GeometricGrid> geometric_grids(const std::vector<double>& rates, int longest) {
  std::vector<int> order(length(rates));
  for (index_t i = 0; i < length(order); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rates[a] < rates[b]; });
  std::vector<bool> used(length(rates), false);
  std::vector<GeometricGrid> grids;
  for (index_t i = 0; i < length(order); ++i) {
    if (used[i]) continue;
    GeometricGrid grid{rates[order[i]], {order[i]}};
    double step = grid.rate;
    for (index_t j = i + 1; j < length(order) && static_cast<int>(length(grid.positions)) < longest; ++j) {
      // A rate may differ from twice the previous one by a few roundings, because bandwidths are rounded too.
      if (used[j] || std::abs(rates[order[j]] - 2 * step) > 1e-14 * step) continue;
      used[j] = true;
      step *= 2;
      grid.positions.push_back(order[j]);
    }
    grids.push_back(grid);
  }
  return grids;
}

}  // namespace spectralcls
