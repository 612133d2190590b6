// Several Gaussian bandwidths from one exponential: halving h^2 squares the kernel value.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace spectralcls {

// Rungs of one ladder: rates[i + 1] = 2 rates[i], for the bandwidths with these positions.
struct Ladder {
  double rate;
  std::vector<int> positions;
};

// Squaring doubles the relative error, so a ladder restarts with a fresh exponential after so many rungs.
template <class T>
constexpr int longest_ladder = sizeof(T) == 4 ? 5 : 8;

// Covers all rates by ladders, interleaved ones included (a grid of ratio 2^(1/3) makes three).
inline std::vector<Ladder> make_ladders(const std::vector<double>& rates, int longest) {
  std::vector<int> order(rates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rates[a] < rates[b]; });
  std::vector<bool> used(rates.size(), false);
  std::vector<Ladder> ladders;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (used[i]) continue;
    Ladder ladder{rates[order[i]], {order[i]}};
    double rung = ladder.rate;
    for (std::size_t j = i + 1; j < order.size() && static_cast<int>(ladder.positions.size()) < longest; ++j) {
      // A rung may be off by a few roundings of the bandwidth, which is as much as its own error.
      if (used[j] || std::abs(rates[order[j]] - 2 * rung) > 1e-14 * rung) continue;
      used[j] = true;
      rung *= 2;
      ladder.positions.push_back(order[j]);
    }
    ladders.push_back(ladder);
  }
  return ladders;
}

}  // namespace spectralcls
