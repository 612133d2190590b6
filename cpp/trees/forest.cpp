#include "trees/forest.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spectralcls {
namespace {

void check(bool holds, const char* what, index_t at) {
  if (!holds) throw std::invalid_argument("the trees are damaged: " + std::string(what) + " " + std::to_string(at));
}

// Visits a tree from left to right.
class Walk {
 public:
  Walk(const TreeNodes& nodes, Forest& forest) : nodes_(nodes), forest_(forest) {}

  void operator()(index_t root) {
    const index_t first_leaf = length(forest_.values);
    for (auto& of_kind : splits_) of_kind.clear();
    n_leaves_ = n_splits_ = 0;
    visit(root);
    Forest::Tree tree{{}, static_cast<std::int32_t>(first_leaf)};
    for (int kind = 0; kind < 3; ++kind) {
      tree.splits[kind] = static_cast<std::int32_t>(forest_.splits.size());
      forest_.splits.insert(forest_.splits.end(), splits_[kind].begin(), splits_[kind].end());
    }
    tree.splits[3] = static_cast<std::int32_t>(forest_.splits.size());
    forest_.trees.push_back(tree);
  }

 private:
  void visit(index_t at) {
    check(0 <= at && at < nodes_.size, "node", at);
    const std::uint8_t kind = nodes_.kinds[at];
    if (kind == TreeNodes::leaf) {
      ++n_leaves_;
      forest_.values.push_back(nodes_.numbers[at]);
      return;
    }
    check(kind <= TreeNodes::category, "kind of node", at);
    Forest::Split split{nodes_.numbers[at], 0, nodes_.features[at]};
    check(split.column >= 0, "feature of node", at);
    check(++n_splits_ < Forest::most_leaves, "more than 64 leaves at node", at);  // or splits without end
    if (kind == TreeNodes::category)
      check(0 <= split.number && split.number < static_cast<double>(nodes_.levels.rows), "levels of node", at);
    check(nodes_.rights[at] > at + 1, "right child of node", at);
    const int first = n_leaves_;
    visit(at + 1);
    for (int leaf = first; leaf < n_leaves_; ++leaf) split.remaining |= std::uint64_t{1} << leaf;
    split.remaining = ~split.remaining;
    splits_[kind - TreeNodes::missing_left].push_back(split);
    visit(nodes_.rights[at]);
  }

  const TreeNodes& nodes_;
  Forest& forest_;
  std::vector<Forest::Split> splits_[3];  // by kind
  int n_leaves_ = 0, n_splits_ = 0;
};

}  // namespace

Forest::Forest(const TreeNodes& nodes) : levels(nodes.levels.rows) {
  for (index_t i = 0; i < nodes.levels.rows; ++i)
    std::copy_n(nodes.levels.row(i), TreeNodes::n_levels, levels[i].begin());
  Walk walk(nodes, *this);
  for (index_t t = 0; t < nodes.roots.rows; ++t) walk(nodes.roots.data[t]);
  for (const Split& split : splits) features.push_back(split.column);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  for (Split& split : splits) {
    const auto place = std::lower_bound(features.begin(), features.end(), split.column) - features.begin();
    split.column = static_cast<std::int32_t>(place);
  }
}

}  // namespace spectralcls
