#include "neighbors/kd_tree.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "neighbors/selection.hpp"

namespace spectralcls::detail {

// The points during construction: an array of coordinates for each axis and an array of rows, all in the same order.
// The range of a node begins and ends at multiples of 16.
template <class T>
class KdTree<T>::Builder {
 public:
  Builder(KdTree& tree, MatrixView<T> points, const Execution& execution)
      : tree_(tree), n_padded_(tree.n_leaves() * leaf_size), stride_((n_padded_ / leaf_size | 1) * leaf_size) {
    coordinates_.resize(stride_ * tree.d_);
    rows_.resize(n_padded_);
    constexpr index_t chunk = 2048;
    for_each_chunk((n_padded_ + chunk - 1) / chunk, execution,
                   [&](index_t c, Checkpoint&) { take({c * chunk, std::min((c + 1) * chunk, n_padded_)}, points); });
  }

  // Splits the upper levels one after the other, all nodes of a level in parallel, and then builds whole subtrees in
  // parallel.
  void build(const Execution& execution) {
    std::vector<Subtree> level{tree_.root()}, upper;
    std::vector<Scratch> scratch;
    const auto enough = execution.n_threads > 1 ? 4 * execution.n_threads : 1;
    while (length(level) < enough && level.front().n_leaves > least_leaves) {
      for_each_chunk(length(level), execution, [&](index_t i, Checkpoint& checkpoint) {
        Scratch mine;
        halve(level[i], mine, checkpoint);
      });
      upper.insert(upper.end(), level.begin(), level.end());
      std::vector<Subtree> next;
      for (const Subtree& node : level) {
        next.push_back(node.left());
        next.push_back(node.right());
      }
      level = std::move(next);
    }
    for_each_chunk(length(level), execution, [&](index_t i, Checkpoint& checkpoint) {
      Scratch mine;
      build(level[i], mine, checkpoint);
    });
    for (auto node = upper.rbegin(); node != upper.rend(); ++node) enclose(*node);
  }

 private:
  static constexpr index_t least_leaves = 256;     // nodes with at most this many are built as whole subtrees
  static constexpr index_t checked_leaves = 1024;  // nodes with at least this many leaves check for an interruption
  // The widest axis is found from all points of a node if there are at most `whole`, otherwise from a sample of
  // `sampled` points.
  static constexpr index_t whole = 16384, sampled = 256;

  struct Scratch {
    Selection<T> selection;
    std::vector<std::uint16_t> left;  // for each group of 16 points, the bits of the points that go left
    UninitializedVector<T> moved;
  };

  void take(Range range, MatrixView<T> points) {
    const index_t d = tree_.d_, end = std::min(range.end, points.rows);
    for (index_t i = range.begin; i < end; ++i)
      for (index_t a = 0; a < d; ++a) coordinates_[a * stride_ + i] = points.row(i)[a];
    for (index_t i = end; i < range.end; ++i)
      for (index_t a = 0; a < d; ++a) axis(a)[i] = std::numeric_limits<T>::quiet_NaN();
    for (index_t i = range.begin; i < range.end; ++i) rows_[i] = static_cast<std::int32_t>(i);
  }

  T* axis(index_t a) { return coordinates_.data() + a * stride_; }

  void build(const Subtree& node, Scratch& scratch, Checkpoint& checkpoint) {
    if (node.is_leaf()) return finish(node);
    if (node.n_leaves >= checked_leaves) checkpoint();
    halve(node, scratch, checkpoint);
    build(node.left(), scratch, checkpoint);
    build(node.right(), scratch, checkpoint);
    enclose(node);
  }

  void halve(const Subtree& node, Scratch& scratch, Checkpoint& checkpoint) {
    const Range range{node.leaf * leaf_size, node.end_leaf() * leaf_size};
    const index_t a = widest_axis(range);
    const index_t n_left = node.left().n_leaves * leaf_size;
    const Cut<T> cut = scratch.selection(axis(a) + range.begin, range.size(), n_left);
    tree_.splits_[node.node] = {cut.threshold, static_cast<std::int32_t>(a)};
    mark(axis(a) + range.begin, range.size(), cut, scratch);
    for (index_t b = 0; b < tree_.d_; ++b) {
      move(axis(b) + range.begin, range.size(), n_left, scratch);
      if (range.size() > checked_leaves * leaf_size) checkpoint();
    }
    move(rows_.data() + range.begin, range.size(), n_left, scratch);
  }

  index_t widest_axis(Range range) const {
    index_t widest = 0;
    T largest = -1;
    for (index_t a = 0; a < tree_.d_; ++a) {
      const T* x = coordinates_.data() + a * stride_ + range.begin;
      const T extent = range.size() <= whole ? extent_of(x, range.size()) : extent_of_sample(x, range.size());
      if (!(extent > largest)) continue;
      largest = extent;
      widest = a;
    }
    return widest;
  }
  static T extent_of(const T* x, index_t n) {
    const auto [low, high] = least_and_largest(x, n);
    return high - low;
  }
  static T extent_of_sample(const T* x, index_t n) {
    T low = std::numeric_limits<T>::infinity(), high = -low;
    for (index_t i = 0; i < sampled; ++i) {
      const T value = x[Selection<T>::place(i, n)];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    return high - low;
  }

  // Sets the bits of the points before the cut in scratch.left.
  void mark(const T* keys, index_t n, const Cut<T>& cut, Scratch& scratch) {
    scratch.left.resize(n / leaf_size);
    index_t n_equal = cut.n_equal;
    const Vec<T> threshold = broadcast<T>(cut.threshold);
    for (index_t i = 0; i < n; i += leaf_size) {
      unsigned below = 0, at_most = 0;
      for (int v = 0; v < vectors_of_sixteen<T>; ++v) {
        const Vec<T> key = load(keys + i + v * lanes<T>);
        below |= less_bits<T>(key, threshold) << v * lanes<T>;
        at_most |= at_most_bits<T>(key, threshold) << v * lanes<T>;
      }
      for (unsigned equal = at_most & ~below; equal && n_equal > 0; equal &= equal - 1, --n_equal)
        below |= equal & -equal;
      scratch.left[i / leaf_size] = static_cast<std::uint16_t>(below);
    }
  }

  // Partitions the values of one array by the cut. The values on each side keep their order.
  template <class E>
  void move(E* values, index_t n, index_t n_left, Scratch& scratch) {
    scratch.moved.resize((n - n_left + leaf_size) * sizeof(E) / sizeof(T) + 1);
    E *to_left = values, *to_right = reinterpret_cast<E*>(scratch.moved.data());
    for (index_t i = 0; i < n; i += leaf_size) {
      const unsigned left = scratch.left[i / leaf_size];
      to_right = pack_chosen(to_right, values + i, ~left & 0xffff);
      to_left = pack_chosen(to_left, values + i, left);
    }
    std::memcpy(values + n_left, scratch.moved.data(), (n - n_left) * sizeof(E));
  }

  void finish(const Subtree& leaf) {
    const index_t d = tree_.d_, first = leaf.leaf * leaf_size;
    T* points = tree_.points_.data() + first * d;
    T* box = tree_.boxes_.data() + leaf.node * 2 * d;
    for (index_t a = 0; a < d; ++a) {
      std::memcpy(points + a * leaf_size, axis(a) + first, leaf_size * sizeof(T));
      const auto [low, high] = least_and_largest(axis(a) + first, leaf_size);
      box[a] = low;
      box[d + a] = high;
    }
    std::memcpy(tree_.rows_.data() + first, rows_.data() + first, leaf_size * sizeof(std::int32_t));
    tree_.least_rows_[leaf.node] = rows_[first];
  }

  // Computes the box and the least row of a node from those of its children.
  void enclose(const Subtree& node) {
    const index_t d = tree_.d_, l = node.left().node, r = node.right().node;
    const T *left = tree_.box(l), *right = tree_.box(r);
    T* box = tree_.boxes_.data() + node.node * 2 * d;
    for (index_t a = 0; a < d; ++a) {
      box[a] = std::min(left[a], right[a]);
      box[d + a] = std::max(left[d + a], right[d + a]);
    }
    tree_.least_rows_[node.node] = std::min(tree_.least_row(l), tree_.least_row(r));
  }

  KdTree& tree_;
  index_t n_padded_, stride_;
  UninitializedVector<T> coordinates_;
  UninitializedVector<std::int32_t> rows_;
};

template <class T>
KdTree<T>::KdTree(MatrixView<T> points, const Execution& execution) : n_(points.rows), d_(points.cols) {
  const auto n_nodes = 2 * n_leaves() - 1, n_places = n_leaves() * leaf_size;
  points_.resize(n_places * d_);
  rows_.resize(n_places);
  boxes_.resize(n_nodes * (2 * d_));
  least_rows_.resize(n_nodes);
  splits_.resize(n_nodes);
  const Execution run = execution.for_work(static_cast<double>(n_ * (d_ + 8)) * 16);
  Builder(*this, points, run).build(run);
}

// Processes several points at a time: while the next node of one point is loaded from memory, the other points descend.
template <class T>
void KdTree<T>::find_leaves(const T* points, index_t n, std::int32_t* leaves) const {
  constexpr index_t together = 8;  // points
  for (index_t begin = 0; begin < n; begin += together) {
    const index_t size = std::min(together, n - begin);
    Subtree at[together];
    std::fill_n(at, size, root());
    for (bool inner = n_leaves() > 1; inner;) {
      inner = false;
      for (index_t i = 0; i < size; ++i) {
        if (at[i].is_leaf()) continue;
        const Split& split = splits_[at[i].node];
        const index_t n_left = at[i].n_leaves - at[i].n_leaves / 2,
                      right = points[(begin + i) * d_ + split.axis] > split.threshold;
        at[i].node += 1 + right * (2 * n_left - 1);
        at[i].leaf += right * n_left;
        at[i].n_leaves = n_left - right * (at[i].n_leaves & 1);
        inner |= !at[i].is_leaf();
      }
    }
    for (index_t i = 0; i < size; ++i) leaves[begin + i] = static_cast<std::int32_t>(at[i].leaf);
  }
}

template class KdTree<float>;
template class KdTree<double>;

}  // namespace spectralcls::detail
