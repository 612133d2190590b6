// The searches of knn.hpp for numbers whose squares neither over- nor underflow.
#pragma once

#include <atomic>
#include <memory>

#include "infrastructure/once.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/knn.hpp"

namespace spectralcls {

template <class T>
class NeighborIndex {
 public:
  NeighborIndex(MatrixView<T> points, int exponent) : points_(points), exponent_(exponent) {}

  int exponent() const { return exponent_; }  // of the largest coordinate
  // Counts queries that a tree could have served, and returns their number so far.
  index_t asked(index_t n_queries) const { return asked_.fetch_add(n_queries) + n_queries; }
  const detail::KdTree<T>& tree(const Execution& execution) const {
    built_([&] { tree_ = std::make_unique<detail::KdTree<T>>(points_, execution); });
    return *tree_;
  }

 private:
  MatrixView<T> points_;
  int exponent_;
  mutable std::atomic<index_t> asked_{0};
  mutable Once built_;
  mutable std::unique_ptr<const detail::KdTree<T>> tree_;
};

namespace detail {

template <class T>
void nearest_in_range(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                      Search search, T* distances, std::int64_t* indices, const Execution& execution);
template <class T>
NeighborLists<T> reverse_in_range(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                  const Execution& execution);

}  // namespace detail
}  // namespace spectralcls
