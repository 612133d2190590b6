// Gaussian sums over the points in a box of cells, pair by pair.
#pragma once

#include <vector>

#include "gridding/source_index.hpp"

namespace spectralcls {

class NearbySums {
 public:
  // Returns the sums of a query over the points in the box, one for each column. They are valid until the next call.
  const double* over(const CellBox& box, const Sources& sources, const double* query, const ApproximateSums& request);

 private:
  std::vector<double> sums_;
};

}  // namespace spectralcls
