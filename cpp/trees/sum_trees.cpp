// Evaluates all splits of a tree for a vector of rows (QuickScorer by C. Lucchese et al., SIGIR 2015). A mask holds the
// leaves that a row can reach; each split whose right side a row takes removes the leaves on its left; the first
// remaining leaf has the value. A walk from the root compares a row with six splits instead of thirty (31 leaves), but
// each step waits for the previous one, and rows take different ways: eight walks in turns take 17 times as long with
// AVX2.
#include <algorithm>
#include <cstring>

#include "infrastructure/memory.hpp"
#include "infrastructure/simd.hpp"
#include "trees/forest.hpp"

namespace spectralcls {
namespace {

using Numbers = Vec<double>;
using Masks = Bits<double>;
constexpr int width = lanes<double>;

// Some rows, column by column, and the sums of their trees.
class Block {
 public:
  static constexpr int most_vectors = 4;

  Block(const Forest& forest, index_t n_outputs)
      : forest_(forest), n_outputs_(n_outputs), columns_(length(forest.features) * most_vectors * width) {}

  template <int V>
  void operator()(MatrixView<double> X, index_t begin, index_t n_rows, double* out) {
    for (index_t r = 0; r < V * width; ++r) {
      const double* row = X.row(begin + std::min(r, n_rows - 1));
      for (index_t a = 0; a < length(forest_.features); ++a) columns_[a * V * width + r] = row[forest_.features[a]];
    }
    for (index_t t = 0; t < length(forest_.trees); ++t) {
      const Forest::Tree& tree = forest_.trees[t];
      Masks masks[V];
      for (Masks& mask : masks) mask = ~Masks{};
      each<V>(tree.splits[0], tree.splits[1], masks, [](Numbers x, Numbers threshold) { return x > threshold; });
      each<V>(tree.splits[1], tree.splits[2], masks, [](Numbers x, Numbers threshold) { return ~(x <= threshold); });
      categories<V>(tree.splits[2], tree.splits[3], masks);
      alignas(64) std::uint64_t reached[V * width];
      for (int v = 0; v < V; ++v) store_masks(reached + v * width, masks[v]);
      const double* values = forest_.values.data() + tree.leaves;
      double* to = out + begin * n_outputs_ + t % n_outputs_;
      for (index_t r = 0; r < n_rows; ++r) to[r * n_outputs_] += values[__builtin_ctzll(reached[r])];
    }
  }

 private:
  static void store_masks(std::uint64_t* to, Masks masks) { std::memcpy(to, &masks, sizeof masks); }
  static Masks load_masks(const std::uint64_t* from) {
    Masks masks;
    std::memcpy(&masks, from, sizeof masks);
    return masks;
  }

  template <int V, class Right>
  SPECTRALCLS_INLINE void each(index_t begin, index_t end, Masks (&masks)[V], Right&& right) const {
    for (index_t s = begin; s < end; ++s) {
      const Forest::Split& split = forest_.splits[s];
      const double* column = columns_.data() + split.column * V * width;
      const Numbers threshold = broadcast<double>(split.number);
      const Masks removed = Masks{} + static_cast<std::int64_t>(~split.remaining);
      for (int v = 0; v < V; ++v) masks[v] &= ~(right(load(column + v * width), threshold) & removed);
    }
  }

  template <int V>
  void categories(index_t begin, index_t end, Masks (&masks)[V]) const {
    for (index_t s = begin; s < end; ++s) {
      const Forest::Split& split = forest_.splits[s];
      const double* column = columns_.data() + split.column * V * width;
      const auto& left = forest_.levels[static_cast<index_t>(split.number)];
      constexpr double last = TreeNodes::n_levels - 1;
      alignas(64) std::uint64_t kept[V * width];
      for (int r = 0; r < V * width; ++r) {  // without branches, which nobody could predict
        const double x = column[r], level = (x >= 0) & (x < last) ? x : last;
        kept[r] = split.remaining | -std::uint64_t{left[static_cast<int>(level)]};
      }
      for (int v = 0; v < V; ++v) masks[v] &= load_masks(kept + v * width);
    }
  }

  const Forest& forest_;
  index_t n_outputs_;
  AlignedVector<double> columns_;
};

}  // namespace

void sum_trees(const Forest& forest, MatrixView<double> X, index_t n_outputs, double* out, const Execution& execution) {
  constexpr index_t rows = Block::most_vectors * width;
  const double work = 64.0 * static_cast<double>(X.rows) * static_cast<double>(forest.trees.size());
  for_each_chunk((X.rows + rows - 1) / rows, execution.for_work(work), [&](index_t c, Checkpoint& checkpoint) {
    const index_t begin = c * rows, n_rows = std::min(rows, X.rows - begin);
    Block block(forest, n_outputs);
    if (n_rows <= width) block.operator()<1>(X, begin, n_rows, out);
    else block.operator()<Block::most_vectors>(X, begin, n_rows, out);
    checkpoint();
  });
}

}  // namespace spectralcls
