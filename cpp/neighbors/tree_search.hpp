#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/exact_distance.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/shortlist.hpp"

namespace spectralcls::detail {

struct TreeWork { long nodes = 0, tests = 0, leaves = 0, scans = 0, hits = 0, narrows = 0; };

template <class T>
class Packet {
 public:
  Packet(const KdTree<T>& tree, index_t k)
      : tree_(tree), d_(tree.dimension()), k_(k), rounding_(d_), lists_(sixteen, k, rounding_) {
    coordinates_.resize(static_cast<std::size_t>(d_ * sixteen));
    center_.resize(static_cast<std::size_t>(d_));
    stack_.resize(64);
  }

  // queries: n rows; leaves: their leaves
  void search(MatrixView<T> queries, const std::int32_t* rows, const std::int32_t* leaves, int n) {
    for (int r = 0; r < sixteen; ++r) {
      const T* q = queries.row(rows[std::min(r, n - 1)]);
      for (index_t a = 0; a < d_; ++a) coordinates_[static_cast<std::size_t>(a * sixteen + r)] = q[a];
      own_[r] = leaves[std::min(r, n - 1)];
    }
    all_ = (1u << n) - 1;
    lists_.clear();
    for (int r = n; r < sixteen; ++r) lists_.limits[r] = -1;
    for (index_t a = 0; a < d_; ++a) center_[static_cast<std::size_t>(a)] = coordinates_[static_cast<std::size_t>(a * sixteen + n / 2)];
    for (int r = 0; r < n;) {
      int end = r;
      while (end < n && own_[end] == own_[r]) ++end;
      scan(own_[r], (1u << end) - (1u << r));
      r = end;
    }
    traverse(own_[0], own_[n - 1]);
  }

  template <class Write>
  void finish(MatrixView<T> queries, const std::int32_t* rows, int n, Write&& write) {
    std::vector<std::pair<double, std::int32_t>>& order = order_;
    std::vector<T> x(static_cast<std::size_t>(d_));
    for (int r = 0; r < n; ++r) {
      lists_.narrow(r);
      ++work.narrows;
      order.clear();
      const std::int32_t* places = lists_.places(r);
      for (index_t i = 0; i < lists_.size(r); ++i) {
        const index_t leaf = places[i] / sixteen, lane = places[i] % sixteen;
        const T* from = tree_.points(leaf) + lane;
        for (index_t a = 0; a < d_; ++a) x[static_cast<std::size_t>(a)] = from[a * sixteen];
        order.emplace_back(squared_distance(queries.row(rows[r]), x.data(), d_, 1.0), tree_.rows(leaf)[lane]);
      }
      if (k_ == 1)
        std::swap(order[0], *std::min_element(order.begin(), order.end()));
      else
        std::sort(order.begin(), order.end());
      for (index_t i = 0; i < k_; ++i) write(rows[r], i, order[static_cast<std::size_t>(i)].first, order[static_cast<std::size_t>(i)].second);
    }
  }
  TreeWork work;

 private:
  unsigned test(index_t node) const {
    const T* box = tree_.box(node);
    unsigned bits = 0;
    for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
      Vec<T> sum = {};
      for (index_t a = 0; a < d_; ++a) {
        const Vec<T> q = load(coordinates_.data() + a * sixteen + v * lanes<T>);
        const Vec<T> gap = maximum<T>(maximum<T>(broadcast<T>(box[a]) - q, q - broadcast<T>(box[d_ + a])), Vec<T>{});
        sum += gap * gap;
      }
      bits |= at_most_bits<T>(sum, load(lists_.limits + v * lanes<T>)) << v * lanes<T>;
    }
    return bits;
  }

  void traverse(index_t first_own, index_t last_own) {
    int top = 0;
    stack_[top++] = tree_.root();
    while (top > 0) {
      const Subtree node = stack_[--top];
      ++work.nodes;
      const bool own = node.leaf <= last_own && first_own < node.end_leaf();
      unsigned mask = all_;
      if (!own || node.is_leaf()) { mask = test(node.node); ++work.tests; }
      if (!mask) continue;
      if (node.is_leaf()) {
        if (own) mask &= ~lanes_of(node.leaf);
        scan(node.leaf, mask);
        continue;
      }
      if (tree_.left_first(node.node, center_.data())) {
        stack_[top++] = node.right();
        stack_[top++] = node.left();
      } else {
        stack_[top++] = node.left();
        stack_[top++] = node.right();
      }
    }
  }

  unsigned lanes_of(index_t leaf) const {
    unsigned bits = 0;
    for (int r = 0; r < sixteen; ++r) bits |= static_cast<unsigned>(own_[r] == leaf) << r;
    return bits;
  }

  SPECTRALCLS_INLINE void scan(index_t leaf, unsigned mask) {
    const T* points = tree_.points(leaf);
    ++work.leaves;
    for (; mask; mask &= mask - 1) {
      const int r = __builtin_ctz(mask);
      ++work.scans;
      Vec<T> sums[vectors_of_sixteen<T>] = {};
      for (index_t a = 0; a < d_; ++a) {
        const Vec<T> q = broadcast<T>(coordinates_[static_cast<std::size_t>(a * sixteen + r)]);
        for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
          const Vec<T> gap = load(points + a * sixteen + v * lanes<T>) - q;
          sums[v] += gap * gap;
        }
      }
      alignas(64) T squared[sixteen];
      const Vec<T> limit = broadcast<T>(lists_.limits[r]);
      unsigned bits = 0;
      for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
        bits |= at_most_bits<T>(sums[v], limit) << v * lanes<T>;
        store(squared + v * lanes<T>, sums[v]);
      }
      if (!bits) continue;
      work.hits += __builtin_popcount(bits);
      lists_.add(r, squared, static_cast<std::int32_t>(leaf * sixteen), bits);
      if (lists_.is_due(r)) { lists_.narrow(r); ++work.narrows; }
    }
  }

  const KdTree<T>& tree_;
  index_t d_, k_;
  Rounding<T> rounding_;
  Shortlists<T> lists_;
  AlignedVector<T> coordinates_;
  std::vector<T> center_;
  std::vector<Subtree> stack_;
  std::vector<std::pair<double, std::int32_t>> order_;
  std::int32_t own_[sixteen];
  unsigned all_ = 0;
};

template <class T>
TreeWork tree_neighbors(const KdTree<T>& tree, MatrixView<T> queries, index_t k, T* distances, std::int64_t* indices, const Execution& execution, bool self=false) {
  const index_t m = queries.rows;
  std::vector<std::int32_t> leaves(m), order(m), sorted(m);
  if (self) {
    for (index_t l = 0; l < tree.n_leaves(); ++l) for (index_t i = 0; i < tree.size(l); ++i) { order[l * 16 + i] = tree.rows(l)[i]; sorted[l * 16 + i] = l; }
  } else {
  for_each_chunk((m + 4095) / 4096, execution, [&](std::ptrdiff_t c, Checkpoint&) {
    for (index_t i = c * 4096; i < std::min<index_t>((c + 1) * 4096, m); ++i) leaves[i] = tree.leaf_of(queries.row(i));
  });
  std::vector<std::int32_t> first(tree.n_leaves() + 1);
  for (index_t i = 0; i < m; ++i) ++first[leaves[i] + 1];
  for (index_t l = 0; l < tree.n_leaves(); ++l) first[l + 1] += first[l];
  for (index_t i = 0; i < m; ++i) { const auto at = first[leaves[i]]++; order[at] = i; sorted[at] = leaves[i]; }
  }
  constexpr index_t chunk = 512;
  TreeWork work;
  for_each_chunk((m + chunk - 1) / chunk, execution, [&](std::ptrdiff_t c, Checkpoint& checkpoint) {
    Packet<T> packet(tree, k);
    for (index_t i = c * chunk; i < std::min((c + 1) * chunk, m); i += sixteen) {
      const int n = static_cast<int>(std::min<index_t>(sixteen, m - i));
      packet.search(queries, order.data() + i, sorted.data() + i, n);
      packet.finish(queries, order.data() + i, n, [&](index_t query, index_t place, double squared, std::int64_t row) {
        distances[query * k + place] = static_cast<T>(std::sqrt(squared));
        indices[query * k + place] = row;
      });
      checkpoint();
    }
    if (execution.n_threads == 1) {
      work.nodes += packet.work.nodes; work.tests += packet.work.tests; work.leaves += packet.work.leaves; work.scans += packet.work.scans; work.hits += packet.work.hits; work.narrows += packet.work.narrows;
    }
  });
  return work;
}

}  // namespace spectralcls::detail
