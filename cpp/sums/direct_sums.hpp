// Direct evaluation: pairs of a group of queries with the points that lie in a box of cells.
#pragma once

#include <cmath>
#include <vector>

#include "base/points.hpp"
#include "sums/approximate_sums.hpp"
#include "sums/cell_tree.hpp"
#include "sums/profile.hpp"

namespace spectralcls {

// The points of one label in the order of their cells.
struct Sources {
  CellTree tree;
  AlignedVector<double> coordinates;  // d rows of n
  std::vector<double> weights;        // n rows of n_columns
  std::vector<double> prefix;         // (n + 1) rows of n_columns: sums of |weight| up to a position
  index_t size() const { return static_cast<index_t>(tree.order().size()); }
};

// The points of all labels over one grid of cells.
class SourceIndex {
 public:
  SourceIndex(const ApproximateSums& request, const CellGrid& grid);

  const std::vector<Sources>& labels() const { return labels_; }
  const std::vector<double>& total_weight() const { return total_; }      // of |weight|, per column
  const std::vector<double>& largest_weight() const { return largest_; }  // of |weight|, per column
  bool has_negative_weights() const { return negative_; }
  index_t count(const CellBox& box) const;
  // Sum of |weight| in a box, rounded up, per column.
  void weight_within(const CellBox& box, double* out) const;
  // Label and sorted position of a row of the original points; label -1 where the row was left out.
  int label(index_t row) const { return label_of_[row]; }
  index_t position(index_t row) const { return position_of_[row]; }

 private:
  std::vector<Sources> labels_;
  std::vector<double> total_, largest_;
  std::vector<int> label_of_;
  std::vector<index_t> position_of_;
  bool negative_ = false;
};

// Sums of a group of queries: for each, n_labels x n_columns sums, then n_columns sums with |weight|.
class DirectSums {
 public:
  DirectSums(const ApproximateSums& request, const SourceIndex& sources);

  int n_outputs() const { return n_outputs_; }
  // sums[i * n_outputs() ...] for the queries rows[0 ... n_rows), over all points in the box.
  void evaluate(const KeyedRow* rows, index_t n_rows, const CellBox& box, double* sums, Checkpoint& checkpoint);

 private:
  static constexpr int capacity = 1024;  // columns of the buffer: with a few features it stays in first-level cache
  static constexpr int step = 4 * lanes<double>;

  void append(const Sources& sources, index_t begin, index_t end);
  void flush(int label, const KeyedRow* rows, index_t n_rows, double* sums);
  template <Kernel K>
  void accumulate(const double* query, int n_columns);

  const ApproximateSums& request_;
  const SourceIndex& index_;
  int d_, n_columns_, n_outputs_;
  double rate_;
  struct Run {
    index_t begin, end;
    int offset;
  };
  std::vector<Run> runs_;  // what the buffer holds of the current label
  int filled_ = 0;
  AlignedVector<double> coordinates_, weights_;  // d and n_columns rows of `capacity`
  std::vector<Vec<double>, AlignedAllocator<Vec<double>>> plain_, absolute_;
};

}  // namespace spectralcls
