// Regression trees, checked and arranged for evaluation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// Nodes of all trees as plain arrays. The left child of a split follows the split; the right one comes later.
struct TreeNodes {
  enum Kind : std::uint8_t { leaf, missing_left, missing_right, category };
  static constexpr index_t n_levels = 256;  // of a category; the last one stands for missing and unknown values

  index_t size;
  const std::uint8_t* kinds;
  const std::int32_t* features;  // of splits
  const double* numbers;         // thresholds, rows of `levels`, or values of leaves
  const std::int32_t* rights;    // right children
  MatrixView<std::int32_t> roots;
  MatrixView<bool> levels;  // which levels go left, for categorical splits
};

// The splits and leaves of each tree.
struct Forest {
  static constexpr int most_leaves = 64;  // of a tree: the bits of a mask

  struct Split {
    double number;            // threshold, or row of `levels`
    std::uint64_t remaining;  // bits of the leaves that can be reached if a row goes right
    std::int32_t column;      // place in `features`
  };
  struct Tree {
    std::int32_t splits[4];  // begin of the splits of each kind: missing_left, missing_right, category; and the end
    std::int32_t leaves;     // first leaf
  };

  // Throws std::invalid_argument if a node refers to something that does not exist or a tree has too many leaves. No
  // nodes from a file can make sum_trees() read foreign memory.
  explicit Forest(const TreeNodes& nodes);

  std::vector<Split> splits;
  std::vector<Tree> trees;
  std::vector<double> values;  // of leaves, from left to right
  std::vector<std::array<bool, TreeNodes::n_levels>> levels;
  std::vector<std::int32_t> features;  // that the splits use, in increasing order
};

// Adds to out (X.rows, n_outputs) the values of the trees, which belong to the outputs in turn, in the trees' order.
void sum_trees(const Forest& forest, MatrixView<double> X, index_t n_outputs, double* out, const Execution& execution);

}  // namespace spectralcls
