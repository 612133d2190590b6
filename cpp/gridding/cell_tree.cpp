#include "gridding/cell_tree.hpp"

#include <cmath>
#include <numeric>

#include "geometry/geometry.hpp"

namespace spectralcls {

CellGrid CellGrid::over(MatrixView<double> points, double side) {
  constexpr index_t sample = 1001;
  CellGrid grid{};
  grid.n_axes = static_cast<int>(points.cols);
  grid.side = side;
  for (index_t k = 0; k < points.cols; ++k) grid.origin[k] = crowded_value(points, k, sample, side * cell_limit);
  return grid;
}

Cell CellGrid::cell(const double* point) const {
  Cell cell{};
  for (int k = 0; k < n_axes; ++k) {
    const double index = std::floor((point[k] - origin[k]) / side);
    cell[k] = static_cast<std::int32_t>(std::min<double>(std::max<double>(index, -cell_limit), cell_limit));
  }
  return cell;
}

void sort_by_key(std::vector<KeyedRow>& rows) {
  std::uint64_t used = 0;
  for (const KeyedRow& row : rows) used |= row.key ^ rows.front().key;
  constexpr int bits = 11;  // of a digit: its 2048 counters stay in the first-level cache
  constexpr std::uint64_t mask = (1u << bits) - 1;
  std::vector<KeyedRow> other(rows.size());
  for (int shift = 0; shift < 64; shift += bits) {
    if (!((used >> shift) & mask)) continue;  // all keys have the same digit
    std::array<index_t, mask + 2> start{};
    for (const KeyedRow& row : rows) ++start[((row.key >> shift) & mask) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (const KeyedRow& row : rows) other[start[(row.key >> shift) & mask]++] = row;
    rows.swap(other);
  }
}

CellTree::CellTree(MatrixView<double> points, const std::vector<index_t>& rows, const CellGrid& grid)
    : n_levels_(grid.n_axes) {
  std::vector<KeyedRow> keyed(rows.size());
  Cell least;
  least.fill(CellGrid::cell_limit);
  std::vector<Cell> cells(rows.size());
  for (index_t i = 0; i < length(rows); ++i) {
    cells[i] = grid.cell(points.row(rows[i]));
    for (int k = 0; k < n_levels_; ++k) least[k] = std::min(least[k], cells[i][k]);
  }
  for (index_t i = 0; i < length(rows); ++i) {
    std::uint64_t key = 0;
    for (int k = 0; k < n_levels_; ++k) key = key << 21 | static_cast<std::uint64_t>(cells[i][k] - least[k]);
    keyed[i] = {key, static_cast<index_t>(i)};
  }
  sort_by_key(keyed);

  order_.reserve(rows.size());
  for (const KeyedRow& entry : keyed) {
    const Cell& cell = cells[entry.row];
    bool opened = order_.empty();
    for (int k = 0; k < n_levels_; ++k) {
      Level& level = levels_[k];
      opened = opened || level.index.back() != cell[k];
      if (!opened) continue;
      level.index.push_back(cell[k]);
      level.child.push_back(k + 1 < n_levels_ ? length(levels_[k + 1].index) : length(order_));
    }
    order_.push_back(rows[entry.row]);
  }
  for (int k = 0; k < n_levels_; ++k)
    levels_[k].child.push_back(k + 1 < n_levels_ ? length(levels_[k + 1].index) : length(order_));
}

}  // namespace spectralcls
