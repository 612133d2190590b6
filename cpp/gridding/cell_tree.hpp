// Points sorted by the cells of a regular grid, and the runs of them that a box of cells holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

constexpr int max_cell_axes = 3;
using Cell = std::array<std::int32_t, max_cell_axes>;

// Cells of one side over the coordinates. Cell indices are clamped to +-cell_limit around a median: clamping is
// monotone, so a box of cells still holds every point that it should.
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

// Rows sorted by 64-bit key, ties by row, so that the order never depends on anything but the data.
struct KeyedRow {
  std::uint64_t key;
  index_t row;
};
void sort_by_key(std::vector<KeyedRow>& rows);

// A trie over cell indices: level k holds the distinct k-th indices below a common prefix. Empty space costs nothing,
// and the cells along the last axis are one contiguous run of points.
class CellTree {
 public:
  CellTree() = default;
  // The given rows of `points`.
  CellTree(MatrixView<double> points, const std::vector<index_t>& rows, const CellGrid& grid);

  // Row at each sorted position.
  const std::vector<index_t>& order() const { return order_; }

  // Calls f(begin, end) for runs of sorted positions that together are the points in the box.
  template <class F>
  void visit(const CellBox& box, F&& f) const {
    if (!order_.empty()) descend(0, 0, length(levels_[0].index), box, f);
  }

  index_t count(const CellBox& box) const {
    index_t total = 0;
    visit(box, [&](index_t begin, index_t end) { total += end - begin; });
    return total;
  }

 private:
  struct Level {
    std::vector<std::int32_t> index;
    std::vector<index_t> child;  // first child of each node (of the last level: first position), and one past the end
  };

  template <class F>
  void descend(int k, index_t begin, index_t end, const CellBox& box, F& f) const {
    const Level& level = levels_[k];
    const auto first = level.index.begin();
    const auto lo = std::lower_bound(first + begin, first + end, box.lo[k]);
    const auto hi = std::upper_bound(lo, first + end, box.hi[k]);
    if (lo == hi) return;
    if (k + 1 == n_levels_) {
      f(level.child[lo - first], level.child[hi - first]);
      return;
    }
    for (auto node = lo; node != hi; ++node)
      descend(k + 1, level.child[node - first], level.child[node - first + 1], box, f);
  }

  int n_levels_ = 0;
  std::vector<index_t> order_;
  std::array<Level, max_cell_axes> levels_;
};

}  // namespace spectralcls
