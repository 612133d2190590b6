// Nearest neighbors through a k-d tree.
#pragma once

#include <cstdint>
#include <memory>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "neighbors/kd_tree.hpp"

namespace spectralcls::detail {

// The k nearest points of every query, as nearest_neighbors() gives them. No squared distance may overflow. Queries and
// tree have to outlive this.
template <class T>
class TreeSearch {
 public:
  // `among_themselves`: the queries are the points of the tree, in the same rows.
  TreeSearch(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, index_t k,
             const Execution& execution);
  ~TreeSearch();

  // Whether a query is compared with so many leaves at most, in the mean over some queries from everywhere.
  bool scans_at_most(double n_leaves) const;
  void run(T* distances, std::int64_t* indices) const;

 private:
  class Plan;
  std::unique_ptr<Plan> plan_;
};

extern template class TreeSearch<float>;
extern template class TreeSearch<double>;

}  // namespace spectralcls::detail
