// One tile of queries through a grid patch.
#pragma once

#include <memory>

#include "sums/direct_sums.hpp"
#include "sums/gauss_grid.hpp"

namespace spectralcls {

// Side of a tile of queries in grid points, and in cells (a power of two), by dimension.
constexpr int gridding_box[] = {0, 64, 32, 32};
constexpr int cells_per_tile_log2[] = {0, 4, 3, 3};

class GriddingSums {
 public:
  virtual ~GriddingSums() = default;
  // The queries rows[0 ... n_rows) of the tile whose first cell is `corner`, over the points in `box`. Results as
  // DirectSums gives them, of pairs that differ from the kernel by the bounds in GriddingAccuracy.
  virtual void evaluate(const KeyedRow* rows, index_t n_rows, const Cell& corner, const CellBox& box, double* sums,
                        Checkpoint& checkpoint) = 0;

  static std::unique_ptr<GriddingSums> create(const ApproximateSums& request, const SourceIndex& sources,
                                              const CellGrid& grid, const GriddingAccuracy& accuracy);
};

}  // namespace spectralcls
