#include "neighbors/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "geometry/exact_distance.hpp"
#include "neighbors/nearest.hpp"
#include "neighbors/shortlist.hpp"

namespace spectralcls::detail {
// The rows of the queries, sorted by leaf, and the leaf of each query.
struct QueryOrder {
  std::vector<std::int32_t> rows, leaves;

  template <class T>
  QueryOrder(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, const Execution& execution)
      : rows(queries.rows), leaves(rows.size()) {
    if (among_themselves) {
      for (index_t leaf = 0, at = 0; leaf < tree.n_leaves(); ++leaf)
        for (index_t i = 0; i < tree.size(leaf); ++i, ++at) {
          rows[at] = tree.rows(leaf)[i];
          leaves[at] = static_cast<std::int32_t>(leaf);
        }
      return;
    }
    constexpr index_t chunk = 1024;
    std::vector<std::int32_t> leaf_of(rows.size());
    for_each_chunk((queries.rows + chunk - 1) / chunk, execution, [&](index_t c, Checkpoint& checkpoint) {
      const index_t begin = c * chunk;
      tree.find_leaves(queries.row(begin), std::min(chunk, queries.rows - begin), leaf_of.data() + begin);
      checkpoint();
    });
    if (queries.rows < tree.n_leaves() / 64) {  // a counting sort would visit every leaf
      std::iota(rows.begin(), rows.end(), 0);
      std::stable_sort(rows.begin(), rows.end(),
                       [&](std::int32_t a, std::int32_t b) { return leaf_of[a] < leaf_of[b]; });
      for (index_t i = 0; i < length(rows); ++i) leaves[i] = leaf_of[rows[i]];
      return;
    }
    std::vector<std::int32_t> first(tree.n_leaves() + 1);
    for (const std::int32_t leaf : leaf_of) ++first[leaf + 1];
    for (index_t leaf = 1; leaf < length(first); ++leaf) first[leaf] += first[leaf - 1];
    for (index_t i = 0; i < length(leaf_of); ++i) {
      const auto at = first[leaf_of[i]]++;
      rows[at] = static_cast<std::int32_t>(i);
      leaves[at] = leaf_of[i];
    }
  }
};

namespace {

// Returns the squared distance in double. The function is never inlined, so all searches round alike. Rounding is
// monotone, so a point is never nearer than the box that contains it.
template <class T>
__attribute__((noinline)) double exact_distance(const T* q, const T* x, index_t d) {
  return squared_distance(q, x, d, 1.0);
}

// Finds the neighbors of one query by exact distances; smaller rows win ties. Only a few of many duplicates are read.
template <class T>
class ExactSearch {
 public:
  ExactSearch(const KdTree<T>& tree, index_t k) : tree_(tree), k_(k), place_(tree.dimension()) {}

  const std::vector<Neighbor>& operator()(const T* query) {
    query_ = query;
    found_.clear();
    waiting_.assign(1, {bound(tree_.root()), tree_.root()});
    while (!waiting_.empty()) {
      const auto [nearest, node] = waiting_.back();
      waiting_.pop_back();
      if (!is_wanted(nearest)) continue;
      if (node.is_leaf()) {
        look_at(node.leaf);
        continue;
      }
      Waiting near{bound(node.left()), node.left()}, far{bound(node.right()), node.right()};
      if (far.first < near.first) std::swap(near, far);
      waiting_.push_back(far);
      waiting_.push_back(near);
    }
    std::sort_heap(found_.begin(), found_.end());
    return found_;
  }

 private:
  using Waiting = std::pair<Neighbor, Subtree>;

  bool is_wanted(const Neighbor& one) const { return length(found_) < k_ || one < found_.front(); }

  // Returns a lower bound, in the order of neighbors, on all points of a subtree.
  Neighbor bound(const Subtree& node) {
    const index_t d = tree_.dimension();
    const T* box = tree_.box(node.node);
    for (index_t a = 0; a < d; ++a) place_[a] = std::min(std::max(query_[a], box[a]), box[d + a]);
    return {exact_distance(query_, place_.data(), d), tree_.least_row(node.node)};
  }

  void look_at(index_t leaf) {
    for (index_t i = 0; i < tree_.size(leaf); ++i) {
      tree_.copy(leaf, i, place_.data());
      const Neighbor one{exact_distance(query_, place_.data(), tree_.dimension()), tree_.rows(leaf)[i]};
      if (!is_wanted(one)) continue;
      if (length(found_) == k_) {
        std::pop_heap(found_.begin(), found_.end());
        found_.pop_back();
      }
      found_.push_back(one);
      std::push_heap(found_.begin(), found_.end());
    }
  }

  const KdTree<T>& tree_;
  index_t k_;
  const T* query_ = nullptr;
  std::vector<T> place_;
  std::vector<Neighbor> found_;  // a heap with the last neighbor on top
  std::vector<Waiting> waiting_;
};

}  // namespace

// Up to 16 queries from the same or nearby leaves, which descend the tree together.
template <class T>
class Packet {
 public:
  Packet(const KdTree<T>& tree, MatrixView<T> queries, index_t k)
      : tree_(tree),
        queries_(queries),
        k_(k),
        d_(tree.dimension()),
        lists_(k, d_),
        coordinates_(d_ * sixteen),
        middle_(d_),
        point_(middle_.size()) {}

  // Searches for the neighbors of n queries, given by their rows and their leaves, sorted by leaf.
  void search(const std::int32_t* rows, const std::int32_t* leaves, int n) {
    rows_ = rows;
    leaves_ = leaves;
    n_ = n;
    crowded_ = 0;
    lists_.clear(n);
    for (int r = 0; r < sixteen; ++r) {
      const T* query = queries_.row(rows[std::min(r, n - 1)]);
      for (index_t a = 0; a < d_; ++a) coordinates_[a * sixteen + r] = query[a];
    }
    std::copy_n(queries_.row(rows[n / 2]), d_, middle_.begin());
    for (int r = 0; r < n;) {
      const int begin = r;
      while (r < n && leaves[r] == leaves[begin]) ++r;
      scan(leaves[begin], (1u << r) - (1u << begin));
    }
    descend();
  }

  // The number of times that a query has been compared with a leaf so far.
  std::int64_t n_scans() const { return n_scans_; }

  // Calls write(query, place, exact squared distance, row) for each neighbor, in order.
  template <class Write>
  void finish(ExactSearch<T>& exact, Write&& write) {
    for (int r = 0; r < n_; ++r) {
      const std::vector<Neighbor>& nearest = crowded_ >> r & 1 ? exact(queries_.row(rows_[r])) : sorted(r);
      for (index_t i = 0; i < k_; ++i) write(rows_[r], i, nearest[i].first, nearest[i].second);
    }
  }

 private:
  void descend() {
    const unsigned all = (1u << n_) - 1;
    waiting_.assign(1, tree_.root());
    while (!waiting_.empty()) {
      const Subtree node = waiting_.back();
      waiting_.pop_back();
      const bool own = node.leaf <= leaves_[n_ - 1] && leaves_[0] < node.end_leaf();
      unsigned near = own && !node.is_leaf() ? all : near_enough(node.node);
      if (!near) continue;
      if (node.is_leaf()) {
        if (own) near &= ~members(node.leaf);
        scan(node.leaf, near);
      } else if (tree_.left_first(node.node, middle_.data())) {
        waiting_.push_back(node.right());
        waiting_.push_back(node.left());
      } else {
        waiting_.push_back(node.left());
        waiting_.push_back(node.right());
      }
    }
  }

  // Returns the bits of the queries that may have neighbors in the box of a node.
  unsigned near_enough(index_t node) const {
    const T* box = tree_.box(node);
    unsigned bits = 0;
    for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
      Vec<T> sum = {};
      for (index_t a = 0; a < d_; ++a) {
        const Vec<T> q = load(coordinates_.data() + a * sixteen + v * lanes<T>);
        const Vec<T> gap = maximum<T>(maximum<T>(broadcast<T>(box[a]) - q, q - broadcast<T>(box[d_ + a])), Vec<T>{});
        sum += gap * gap;
      }
      bits |= at_most_bits<T>(sum, load(lists_.limits() + v * lanes<T>)) << v * lanes<T>;
    }
    return bits;
  }

  // Returns the bits of the queries that lie in a leaf.
  unsigned members(index_t leaf) const {
    unsigned bits = 0;
    for (int r = 0; r < n_; ++r) bits |= static_cast<unsigned>(leaves_[r] == leaf) << r;
    return bits;
  }

  // Compares the queries whose bits are set with the points of a leaf.
  SPECTRALCLS_INLINE void scan(index_t leaf, unsigned queries) {
    const T* points = tree_.points(leaf);
    n_scans_ += __builtin_popcount(queries);
    for (; queries; queries &= queries - 1) {
      const int r = __builtin_ctz(queries);
      Vec<T> sums[vectors_of_sixteen<T>] = {};
      for (index_t a = 0; a < d_; ++a) {
        const Vec<T> q = broadcast<T>(coordinates_[a * sixteen + r]);
        for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
          const Vec<T> gap = load(points + a * sixteen + v * lanes<T>) - q;
          sums[v] += gap * gap;
        }
      }
      alignas(64) T squared[sixteen];
      const Vec<T> limit = broadcast<T>(lists_.limits()[r]);
      unsigned bits = 0;
      for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
        bits |= at_most_bits<T>(sums[v], limit) << v * lanes<T>;
        store(squared + v * lanes<T>, sums[v]);
      }
      if (!bits) continue;
      lists_.add(r, squared, static_cast<std::int32_t>(leaf * sixteen), bits);
      if (lists_.is_due(r) && !lists_.narrow(r)) {
        crowded_ |= 1u << r;
        lists_.close(r);
      }
    }
  }

  const std::vector<Neighbor>& sorted(int r) {
    lists_.narrow(r);
    found_.clear();
    found_.reserve(lists_.size(r));
    const std::int32_t* places = lists_.places(r);
    for (index_t i = 0; i < lists_.size(r); ++i) {
      const index_t leaf = places[i] / sixteen, at = places[i] % sixteen;
      tree_.copy(leaf, at, point_.data());
      found_.add(exact_distance(queries_.row(rows_[r]), point_.data(), d_), tree_.rows(leaf)[at]);
    }
    return found_.first(k_);
  }

  const KdTree<T>& tree_;
  MatrixView<T> queries_;
  index_t k_, d_;
  Shortlists<T> lists_;
  AlignedVector<T> coordinates_;  // axis by axis, with 16 values for each axis
  std::vector<T> middle_, point_;
  std::vector<Subtree> waiting_;
  NeighborSort found_;
  const std::int32_t *rows_ = nullptr, *leaves_ = nullptr;
  int n_ = 0;
  std::int64_t n_scans_ = 0;
  unsigned crowded_ = 0;  // bits of the queries with too many ties for a shortlist
};

template <class T>
class TreeSearch {
 public:
  TreeSearch(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, index_t k, const Execution& execution)
      : tree_(tree),
        queries_(queries),
        k_(k),
        execution_(execution.for_work(static_cast<double>(queries.rows * (queries.cols + k)) * 64)),
        order_(tree, queries, among_themselves, execution_) {}

  bool scans_at_most(double n_leaves) {
    if (n_leaves >= static_cast<double>(tree_.n_leaves())) return true;
    const index_t n_packets = (queries_.rows + sixteen - 1) / sixteen;
    const index_t n_tried = std::clamp<index_t>(n_packets / 64, 1, 8);
    const double most = n_leaves * static_cast<double>(sixteen * n_tried);
    Packet<T>& packet = tried_.emplace(tree_, queries_, k_);
    for (index_t i = 0; i < n_tried && static_cast<double>(packet.n_scans()) <= most; ++i)
      search(packet, (2 * i + 1) * n_packets / (2 * n_tried) * sixteen);
    return static_cast<double>(packet.n_scans()) <= most;
  }

  void run(T* distances, std::int64_t* indices) {
    auto write = [&](index_t query, index_t place, double squared, std::int64_t row) {
      distances[query * k_ + place] = static_cast<T>(std::sqrt(squared));
      indices[query * k_ + place] = row;
    };
    if (tried_ && queries_.rows <= sixteen) {  // the trial has searched for all queries
      ExactSearch<T> exact(tree_, k_);
      tried_->finish(exact, write);
      return;
    }
    constexpr index_t chunk = 512;
    for_each_chunk((queries_.rows + chunk - 1) / chunk, execution_, [&](index_t c, Checkpoint& checkpoint) {
      Packet<T> packet(tree_, queries_, k_);
      ExactSearch<T> exact(tree_, k_);
      for (index_t i = c * chunk; i < std::min((c + 1) * chunk, queries_.rows); i += sixteen) {
        search(packet, i);
        packet.finish(exact, write);
        checkpoint();
      }
    });
  }

 private:
  // Searches for the neighbors of up to 16 queries, from place i of the order on.
  void search(Packet<T>& packet, index_t i) const {
    const auto n = static_cast<int>(std::min<index_t>(sixteen, queries_.rows - i));
    packet.search(order_.rows.data() + i, order_.leaves.data() + i, n);
  }

  const KdTree<T>& tree_;
  MatrixView<T> queries_;
  index_t k_;
  Execution execution_;
  QueryOrder order_;
  std::optional<Packet<T>> tried_;
};

template <class T>
bool search_tree(const KdTree<T>& tree, MatrixView<T> queries, bool among_themselves, index_t k, double most_scans,
                 T* distances, std::int64_t* indices, const Execution& execution) {
  TreeSearch<T> search(tree, queries, among_themselves, k, execution);
  if (!search.scans_at_most(most_scans)) return false;
  search.run(distances, indices);
  return true;
}

template bool search_tree(const KdTree<float>&, MatrixView<float>, bool, index_t, double, float*, std::int64_t*,
                          const Execution&);
template bool search_tree(const KdTree<double>&, MatrixView<double>, bool, index_t, double, double*, std::int64_t*,
                          const Execution&);

}  // namespace spectralcls::detail
