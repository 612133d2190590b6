// The points of grid sums, label by label, in the order of their cells.
#pragma once

#include <vector>

#include "gridding/approximate_sums.hpp"
#include "gridding/cell_tree.hpp"
#include "infrastructure/memory.hpp"

namespace spectralcls {

// The n points of one label, in d dimensions.
struct Sources {
  CellTree tree;
  AlignedVector<double> coordinates;  // d rows of n values
  std::vector<double> weights;        // n rows of n_columns values
  std::vector<double> prefix;         // (n + 1) rows of n_columns: sums of |weight| up to a position
  index_t size() const { return length(tree.order()); }
  // Returns the sum of |weight| in a column.
  double total(index_t column, index_t n_columns) const { return prefix[size() * n_columns + column]; }
};

// The points of all labels, sorted by the cells of one grid.
class SourceIndex {
 public:
  SourceIndex(const ApproximateSums& request, const CellGrid& grid);

  const std::vector<Sources>& labels() const { return labels_; }
  const std::vector<double>& largest_weight() const { return largest_; }  // largest |weight| of each column
  bool has_negative_weights() const { return negative_; }
  // Returns the number of points of all labels in a box.
  index_t count(const CellBox& box) const;
  // Fills `out` (n_labels, n_columns) with the sums of |weight| in a box, rounded up.
  void weight_within(const CellBox& box, double* out) const;
  // Returns the label of a row of the original points, -1 if it was left out.
  int label(index_t row) const { return label_of_[row]; }

 private:
  std::vector<Sources> labels_;
  std::vector<double> largest_;
  std::vector<int> label_of_;
  bool negative_ = false;
};

}  // namespace spectralcls
