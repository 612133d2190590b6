#include "geometry/locality.hpp"

#include <algorithm>

namespace spectralcls {
namespace {

// Returns the feature with the largest variance in a sample of 128 rows. This choice is robust enough against a few far
// points.
template <class T>
index_t widest_feature(MatrixView<T> points, const std::vector<index_t>& rows, Range range) {
  constexpr index_t enough = 128;  // rows of the sample
  const index_t n = std::min(range.size(), enough);
  const T* pivot = points.row(rows[range.begin]);
  std::vector<double> sum(points.cols), squares(sum);
  for (index_t i = 0; i < n; ++i) {
    const T* x = points.row(rows[range.begin + i * range.size() / n]);
    for (index_t k = 0; k < points.cols; ++k) {
      const double offset = static_cast<double>(x[k]) - static_cast<double>(pivot[k]);
      sum[k] += offset;
      squares[k] += offset * offset;
    }
  }
  index_t widest = 0;
  double largest = -1;
  for (index_t k = 0; k < points.cols; ++k) {
    const double spread = squares[k] - sum[k] * sum[k] / static_cast<double>(n);
    if (spread <= largest) continue;
    largest = spread;
    widest = k;
  }
  return widest;
}

// Moves the lower half of the rows along the widest feature to the front of the range. Returns the beginning of the
// upper half.
template <class T>
index_t split(MatrixView<T> points, std::vector<index_t>& rows, Range range, index_t leaf) {
  struct Key {
    T value;
    index_t row;
    bool operator<(const Key& other) const { return value < other.value || (value == other.value && row < other.row); }
  };
  const index_t size = range.end - range.begin, feature = widest_feature(points, rows, range);
  std::vector<Key> keys(size);
  for (index_t i = 0; i < size; ++i) keys[i] = {points.row(rows[range.begin + i])[feature], rows[range.begin + i]};
  // The cut is at a multiple of the leaf size, so that all leaves but the last are full.
  const index_t half = ((size + leaf - 1) / leaf + 1) / 2 * leaf;
  std::nth_element(keys.begin(), keys.begin() + half, keys.end());
  for (index_t i = 0; i < size; ++i) rows[range.begin + i] = keys[i].row;
  return range.begin + half;
}

template <class T>
void order_range(MatrixView<T> points, std::vector<index_t>& rows, Range range, index_t leaf) {
  if (range.end - range.begin <= leaf) return;
  const index_t middle = split(points, rows, range, leaf);
  order_range(points, rows, {range.begin, middle}, leaf);
  order_range(points, rows, {middle, range.end}, leaf);
}

}  // namespace

template <class T>
void order_by_locality(MatrixView<T> points, std::vector<index_t>& rows, std::vector<Range> ranges, index_t leaf,
                       const Execution& execution) {
  // Large ranges are split level by level, all ranges of a level in parallel, until there are enough ranges to occupy
  // all threads.
  const auto n_rows = length(rows);
  const index_t large = std::max(leaf, n_rows / 32);
  std::vector<Range> small;
  while (!ranges.empty()) {
    std::vector<Range> level;
    for (const Range& range : ranges) (range.end - range.begin > large ? level : small).push_back(range);
    ranges.assign(2 * length(level), Range{});
    for_each_chunk(length(level), execution, [&](index_t i, Checkpoint&) {
      const index_t middle = split(points, rows, level[i], leaf);
      ranges[2 * i] = {level[i].begin, middle};
      ranges[2 * i + 1] = {middle, level[i].end};
    });
  }
  constexpr index_t ranges_a_chunk = 8;
  const auto n_small = length(small);
  for_each_chunk((n_small + ranges_a_chunk - 1) / ranges_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    for (index_t i = chunk * ranges_a_chunk; i < std::min((chunk + 1) * ranges_a_chunk, n_small); ++i)
      order_range(points, rows, small[i], leaf);
  });
}

template void order_by_locality(MatrixView<float>, std::vector<index_t>&, std::vector<Range>, index_t,
                                const Execution&);
template void order_by_locality(MatrixView<double>, std::vector<index_t>&, std::vector<Range>, index_t,
                                const Execution&);

}  // namespace spectralcls
