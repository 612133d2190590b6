#include "sums/cell_tree.hpp"

#include <cmath>
#include <numeric>

namespace spectralcls {

CellGrid CellGrid::over(MatrixView<double> points, double side) {
  CellGrid grid{};
  const int d = static_cast<int>(points.cols);
  std::vector<double> spread(d), median(d), column(points.rows);
  for (int k = 0; k < d; ++k) {
    for (index_t i = 0; i < points.rows; ++i) column[i] = points.row(i)[k];
    const auto middle = column.begin() + points.rows / 2, quarter = column.begin() + points.rows / 4;
    std::nth_element(column.begin(), middle, column.end());
    median[k] = *middle;
    std::nth_element(column.begin(), quarter, column.end());
    const double low = *quarter;
    std::nth_element(column.begin(), column.begin() + points.rows * 3 / 4, column.end());
    spread[k] = column[points.rows * 3 / 4] - low;
  }
  std::vector<int> axes(d);
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return spread[a] > spread[b]; });
  grid.n_axes = std::min(d, max_cell_axes);
  std::sort(axes.begin(), axes.begin() + grid.n_axes);
  for (int k = 0; k < grid.n_axes; ++k) {
    grid.axis[k] = axes[k];
    grid.origin[k] = median[axes[k]];
  }
  grid.side = side;
  return grid;
}

Cell CellGrid::cell(const double* point) const {
  Cell cell{};
  for (int k = 0; k < n_axes; ++k) {
    const double index = std::floor((point[axis[k]] - origin[k]) / side);
    cell[k] = static_cast<std::int32_t>(std::min<double>(std::max<double>(index, -cell_limit), cell_limit));
  }
  return cell;
}

void sort_by_key(std::vector<KeyedRow>& rows) {
  std::uint64_t used = 0;
  for (const KeyedRow& row : rows) used |= row.key ^ rows.front().key;
  constexpr int bits = 11;
  constexpr std::uint64_t mask = (1u << bits) - 1;
  std::vector<KeyedRow> other(rows.size());
  for (int shift = 0; shift < 64; shift += bits) {
    if (!((used >> shift) & mask)) continue;  // the same digit in every key
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
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells[i] = grid.cell(points.row(rows[i]));
    for (int k = 0; k < n_levels_; ++k) least[k] = std::min(least[k], cells[i][k]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
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
      level.child.push_back(k + 1 < n_levels_ ? static_cast<index_t>(levels_[k + 1].index.size())
                                              : static_cast<index_t>(order_.size()));
    }
    order_.push_back(rows[entry.row]);
  }
  for (int k = 0; k < n_levels_; ++k)
    levels_[k].child.push_back(k + 1 < n_levels_ ? static_cast<index_t>(levels_[k + 1].index.size())
                                                 : static_cast<index_t>(order_.size()));
}

}  // namespace spectralcls
