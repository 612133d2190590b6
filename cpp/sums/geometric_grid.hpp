// Several bandwidths from one exponential: doubling the rate squares a Gaussian or Laplace kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace spectralcls {

// One grid: the rate of its first step, and the positions of its steps among the bandwidths. The rate doubles from step
// to step.
struct GeometricGrid {
  double rate;
  std::vector<int> positions;
};

// The largest number of steps of one grid. Longer grids are split, and each part starts with a new exponential, because
// each squaring doubles the relative error.
template <class T>
constexpr int longest_grid = sizeof(T) == 4 ? 5 : 8;

// Divides the rates into grids, which may interleave: rates with the ratio 2^(1/3) form three grids.
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
      // A rate may differ from twice the previous one by a few ulps, because the bandwidths are rounded.
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
