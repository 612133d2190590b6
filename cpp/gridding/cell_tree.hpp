// Points sorted by the cells of a regular grid, so that the points of a box of cells form a few contiguous runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

constexpr int max_cell_axes = 3;
using Cell = std::array<std::int32_t, max_cell_axes>;

// Cells whose sides have equal lengths. Indices count from where most points are and are clamped to +-cell_limit.
// Clamping is monotone, so the cells of a box still contain all points in the box.
struct CellGrid {
  static constexpr std::int32_t cell_limit = (1 << 20) - 1;

  int n_axes;
  std::array<double, max_cell_axes> origin;
  double side;

  // `points` has at most max_cell_axes columns.
  static CellGrid over(MatrixView<double> points, double side);
  Cell cell(const double* point) const;
};

// lo <= cell <= hi on every axis.
struct CellBox {
  Cell lo, hi;
};

// A row and its 64-bit key. Rows are sorted by key, then by row, so the order depends only on the data.
struct KeyedRow {
  std::uint64_t key;
  index_t row;
};
void sort_by_key(std::vector<KeyedRow>& rows);

// A trie over cell indices. Level k holds the distinct k-th indices below a common prefix. Empty space costs nothing,
// and the points of adjacent cells along the last axis are one contiguous run.
class CellTree {
 public:
  CellTree() = default;
  // Sorts the given rows of `points`.
  CellTree(MatrixView<double> points, const std::vector<index_t>& rows, const CellGrid& grid);

  // Returns the row at each sorted position.
  const std::vector<index_t>& order() const { return order_; }

  // Calls f(begin, end) for the runs of sorted positions that make up the box.
  template <class F>
  void visit(const CellBox& box, F&& f) const {
    if (!order_.empty()) descend<0>(0, length(levels_[0].index), box, f);
  }

  index_t count(const CellBox& box) const {
    index_t total = 0;
    visit(box, [&](index_t begin, index_t end) { total += end - begin; });
    return total;
  }

 private:
  struct Level {
    std::vector<std::int32_t> index;
    std::vector<index_t> child;  // first child of each node, and one past the end; on the last level: first position
  };

  template <int K, class F>
  void descend(index_t begin, index_t end, const CellBox& box, F& f) const {
    const Level& level = levels_[K];
    const auto first = level.index.begin();
    const auto lo = std::lower_bound(first + begin, first + end, box.lo[K]);
    const auto hi = std::upper_bound(lo, first + end, box.hi[K]);
    if (lo == hi) return;
    if constexpr (K + 1 < max_cell_axes) {
      if (K + 1 < n_levels_) {
        for (auto node = lo; node != hi; ++node)
          descend<K + 1>(level.child[node - first], level.child[node - first + 1], box, f);
        return;
      }
    }
    f(level.child[lo - first], level.child[hi - first]);
  }

  int n_levels_ = 0;
  std::vector<index_t> order_;
  std::array<Level, max_cell_axes> levels_;
};

}  // namespace spectralcls
