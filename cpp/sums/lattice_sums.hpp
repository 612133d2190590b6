// One tile of queries through a lattice patch.
#pragma once

#include <memory>

#include "sums/gauss_lattice.hpp"
#include "sums/pair_sums.hpp"

namespace spectralcls {

// Side of a tile of queries in lattice points, and in cells (a power of two), by dimension.
constexpr int lattice_box[] = {0, 64, 32, 32};
constexpr int cells_per_tile_log2[] = {0, 4, 3, 3};

class LatticeSums {
 public:
  virtual ~LatticeSums() = default;
  // The queries rows[0 ... n_rows) of the tile whose first cell is `corner`, over the points in `box`. Results as
  // PairSums gives them, of pairs that differ from the kernel by the bounds in LatticeAccuracy.
  virtual void evaluate(const KeyedRow* rows, index_t n_rows, const Cell& corner, const CellBox& box, double* sums,
                        Checkpoint& checkpoint) = 0;

  static std::unique_ptr<LatticeSums> create(const ToleranceSums& request, const SourceIndex& sources,
                                             const CellGrid& grid, const LatticeAccuracy& accuracy);
};

}  // namespace spectralcls
