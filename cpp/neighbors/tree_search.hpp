// Nearest neighbors through a k-d tree.
#pragma once

#include <cstdint>
#include <memory>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "neighbors/kd_tree.hpp"

namespace spectralcls::detail {

// Finds the k nearest points of every query, like nearest_neighbors(). Squared distances must not overflow. Queries and
// tree must outlive this object.
template <class T>
class TreeSearch {
 public:
  // `among_themselves`: the queries are the points of the tree, in the same rows.
  TreeSearch(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, index_t k,
             const Execution& execution);
  ~TreeSearch();

  // Returns whether a query is compared with at most n_leaves leaves on average, judged by a sample of queries.
  bool scans_at_most(double n_leaves) const;
  void run(T* distances, std::int64_t* indices) const;

 private:
  class Plan;
  std::unique_ptr<Plan> plan_;
};

extern template class TreeSearch<float>;
extern template class TreeSearch<double>;

}  // namespace spectralcls::detail
