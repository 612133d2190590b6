// The points that may be among the k nearest neighbors of one query.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// Points with bounds on their squared distances. The bounds suffice to discard most points. Exact distances are
// computed for the points that remain at the end, and before that if the bounds leave too many.
class Candidates {
 public:
  struct Entry {
    double lower, upper;
    std::int64_t index;
  };

  static bool nearer(const Entry& a, const Entry& b) {
    return a.upper < b.upper || (a.upper == b.upper && a.index < b.index);
  }

  void reset(index_t k) {
    k_ = k;
    entries_.reserve(capacity(k_));
  }
  static index_t bytes(index_t k) { return capacity(k) * sizeof(Entry); }
  // Returns the expected fraction of n points, read in random order, that are among the k nearest so far when they are
  // read.
  static double expected(index_t k, index_t n) {
    const double share = std::min(1.0, static_cast<double>(k) / static_cast<double>(n));
    return share * (1 - std::log(share));
  }
  // Points beyond this distance cannot be neighbors, because k candidates are at least as near.
  double reach() const { return reach_; }
  void add(std::pair<double, double> bounds, std::int64_t index) {
    entries_.push_back({bounds.first, bounds.second, index});
  }
  // After about k new candidates, a compaction saves about as much as it costs.
  bool wants_compaction() const { return length(entries_) >= compacted_ + k_ + spare && length(entries_) >= k_; }

  template <class Exact>
  void compact(Exact&& exact) {
    narrow();
    if (length(entries_) > 2 * k_ + spare) {
      settle(exact);
      narrow();
      // Among exact ties for the last place, only the smallest indices are kept.
      if (length(entries_) > k_) keep_best();
    }
    compacted_ = length(entries_);
  }

  // Returns the k nearest points in order. Their bounds are the exact squared distances.
  template <class Exact>
  const std::vector<Entry>& nearest(Exact&& exact) {
    assert(length(entries_) >= k_);
    narrow();
    settle(exact);
    keep_best();
    std::sort(entries_.begin(), entries_.end(), nearer);
    return entries_;
  }

 private:
  static constexpr index_t spare = 16;  // so that lists with a small k are not compacted all the time
  static index_t capacity(index_t k) { return 2 * k + spare + 64; }

  void narrow() {
    if (length(entries_) <= k_) {
      if (length(entries_) == k_) reach_ = std::max_element(entries_.begin(), entries_.end(), nearer)->upper;
      return;
    }
    const auto last = entries_.begin() + static_cast<index_t>(k_) - 1;
    std::nth_element(entries_.begin(), last, entries_.end(), nearer);
    reach_ = last->upper;
    entries_.erase(std::remove_if(last + 1, entries_.end(), [&](const Entry& e) { return e.lower > reach_; }),
                   entries_.end());
  }
  template <class Exact>
  void settle(Exact&& exact) {
    for (Entry& e : entries_)
      if (e.lower != e.upper) e.lower = e.upper = exact(e.index);
  }
  void keep_best() {
    std::nth_element(entries_.begin(), entries_.begin() + static_cast<index_t>(k_) - 1, entries_.end(), nearer);
    entries_.resize(k_);
  }

  index_t k_ = 0, compacted_ = 0;
  double reach_ = std::numeric_limits<double>::infinity();
  std::vector<Entry> entries_;
};

}  // namespace spectralcls::detail
