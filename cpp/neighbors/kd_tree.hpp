// A balanced k-d tree of points in a few dimensions, with a bounding box for each node.
#pragma once

#include <cassert>
#include <cstdint>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "infrastructure/parallel.hpp"
#include "neighbors/lanes.hpp"

namespace spectralcls::detail {

// A subtree. Its nodes are adjacent: the root, then the left child's nodes, then the right child's.
struct Subtree {
  index_t node, leaf, n_leaves;

  bool is_leaf() const { return n_leaves == 1; }
  index_t end_leaf() const { return leaf + n_leaves; }
  Subtree left() const { return {node + 1, leaf, n_leaves - n_leaves / 2}; }
  Subtree right() const {
    const index_t n_left = n_leaves - n_leaves / 2;
    return {node + 2 * n_left, leaf + n_left, n_leaves / 2};
  }
};

// All leaves but the last hold 16 points, so the number of points determines the nodes. A node is split near the median
// along its widest axis. Points that tie at the cut go left in the order of their rows.
template <class T>
class KdTree {
 public:
  KdTree(MatrixView<T> points, const Execution& execution);

  static constexpr index_t leaf_size = sixteen;
  static constexpr index_t most_points = index_t{1} << 31;  // rows have 32 bits

  index_t n_points() const { return n_; }
  index_t dimension() const { return d_; }
  index_t n_leaves() const { return (n_ + leaf_size - 1) / leaf_size; }
  Subtree root() const { return {0, 0, n_leaves()}; }

  // Coordinates of the points of a leaf, axis by axis, with 16 values for each axis. Unused places of the last leaf are
  // NaN.
  const T* points(index_t leaf) const {
    assert(0 <= leaf && leaf < n_leaves());
    return points_.data() + leaf * d_ * leaf_size;
  }
  // Rows of the points of a leaf in the original matrix, in increasing order.
  const std::int32_t* rows(index_t leaf) const { return rows_.data() + leaf * leaf_size; }
  index_t size(index_t leaf) const { return leaf + 1 < n_leaves() ? leaf_size : n_ - leaf * leaf_size; }
  void copy(index_t leaf, index_t i, T* point) const {
    assert(0 <= i && i < size(leaf));
    for (index_t a = 0; a < d_; ++a) point[a] = points(leaf)[a * leaf_size + i];
  }
  // The bounding box of a node in d dimensions: d lows, then d highs.
  const T* box(index_t node) const {
    assert(0 <= node && node < 2 * n_leaves() - 1);
    return boxes_.data() + node * 2 * d_;
  }
  std::int32_t least_row(index_t node) const { return least_rows_[node]; }

  // Finds the leaf that contains each of n points, which are given row by row.
  void find_leaves(const T* points, index_t n, std::int32_t* leaves) const;
  // Returns whether a point is on the left side of the split of an inner node.
  bool left_first(index_t node, const T* point) const {
    const Split& split = splits_[node];
    return !(point[split.axis] > split.threshold);
  }

 private:
  struct Split {
    T threshold;
    std::int32_t axis;
  };
  class Builder;

  index_t n_, d_;
  UninitializedVector<T> points_, boxes_;
  UninitializedVector<std::int32_t> rows_, least_rows_;
  UninitializedVector<Split> splits_;
};

}  // namespace spectralcls::detail
