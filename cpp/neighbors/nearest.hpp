// The k nearest of a few points, in order.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"

namespace spectralcls::detail {

// An exact squared distance and a row. Nearer points come first; among equal distances, smaller rows do.
using Neighbor = std::pair<double, std::int32_t>;

// Sorts a few neighbors. The predecessors of each neighbor are counted, which needs no branch that depends on the
// distances.
class NeighborSort {
 public:
  void clear() { size_ = 0; }
  void reserve(index_t n) {
    squared_.resize(n + lanes<double>);
    rows_.resize(squared_.size());
  }
  void add(double squared, std::int32_t row) {
    squared_[size_] = squared;
    rows_[size_++] = row;
  }

  // Returns a vector that starts with the first k neighbors, 0 < k <= number of neighbors.
  const std::vector<Neighbor>& first(index_t k) {
    assert(0 < k && k <= size_);
    sorted_.resize(std::max(k, size_));
    if (k == 1) {
      sorted_[0] = neighbor(0);
      for (index_t i = 1; i < size_; ++i) sorted_[0] = std::min(sorted_[0], neighbor(i));
    } else if (size_ <= few) {
      by_counting();
    } else {
      for (index_t i = 0; i < size_; ++i) sorted_[i] = neighbor(i);
      std::sort(sorted_.begin(), sorted_.begin() + size_);
    }
    return sorted_;
  }

 private:
  static constexpr index_t few = 128;  // up to this size, counting is used instead of std::sort

  Neighbor neighbor(index_t i) const { return {squared_[i], static_cast<std::int32_t>(rows_[i])}; }

  void by_counting() {
    for (index_t i = 0; i < size_; i += lanes<double>) {
      const Vec<double> mine = load(squared_.data() + i), my_rows = load(rows_.data() + i);
      Bits<double> before = {};
      for (index_t j = 0; j < size_; ++j) {
        const Vec<double> other = broadcast(squared_[j]), row = broadcast(rows_[j]);
        before -= (other < mine) | ((other == mine) & (row < my_rows));
      }
      for (index_t lane = 0; lane < lanes<double> && i + lane < size_; ++lane)
        sorted_[before[lane]] = neighbor(i + lane);
    }
  }

  index_t size_ = 0;
  UninitializedVector<double> squared_, rows_;
  std::vector<Neighbor> sorted_;
};

}  // namespace spectralcls::detail
