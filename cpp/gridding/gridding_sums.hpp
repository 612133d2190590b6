// Sums of one tile of queries on a grid patch.
#pragma once

#include <memory>

#include "gridding/gauss_grid.hpp"
#include "gridding/source_index.hpp"

namespace spectralcls {

// Side of a tile of queries, by dimension: in grid points, and as log2 of the number of cells.
constexpr int gridding_box[] = {0, 64, 32, 32};
constexpr int cells_per_tile_log2[] = {0, 4, 3, 3};
// The least sum of a label that the grid should settle, relative to the weight within the gridding radius, by
// dimension. Smaller sums are computed exactly. Wider stencils could settle smaller sums, but would make all sums
// slower.
constexpr double least_of_label[] = {0, 1e-24, 1e-8, 1e-3};

class GriddingSums {
 public:
  virtual ~GriddingSums() = default;
  // Spreads the points in `box` onto the patch of the tile whose first cell is `corner`.
  virtual void spread(const Cell& corner, const CellBox& box, Checkpoint& checkpoint) = 0;
  // Computes the sums of the queries rows[0, n_rows) of the tile. For each query, writes n_labels x n_columns sums,
  // then n_columns sums of all labels with |weight| instead of the weight. The value of each pair differs from the
  // kernel by at most the bounds in GriddingAccuracy.
  virtual void gather(const KeyedRow* rows, index_t n_rows, double* sums, Checkpoint& checkpoint) = 0;

  // open() and sum() compute the same sums one at a time, if no weight is negative and no query leaves out a point.
  // open() prepares at most `batch` queries.
  static constexpr index_t batch = 32;
  virtual void open(const KeyedRow* rows, index_t n_rows) = 0;
  // Returns one of the n_labels x n_columns sums of a prepared query.
  virtual double sum(index_t query, index_t channel) const = 0;
  // Fills `sums` (n_labels, n_columns) with upper bounds on the sums of all queries in a cell.
  virtual void bound(const Cell& cell, double* sums) const = 0;

  static std::unique_ptr<GriddingSums> create(const ApproximateSums& request, const SourceIndex& sources,
                                              const CellGrid& grid, const GriddingAccuracy& accuracy);
};

}  // namespace spectralcls
