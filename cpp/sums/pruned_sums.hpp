// Sums of a chunk of queries over the points that can change the rounded result.
#pragma once

#include <limits>

#include "infrastructure/costs.hpp"
#include "sums/block_sums.hpp"

namespace spectralcls::detail {

template <class T>
class PrunedSums {
 public:
  PrunedSums(const SumPlan<T>& plan, const Range& chunk, BlockSums<T>& sums)
      : plan_(plan), chunk_(chunk), sums_(sums), pairs_(plan.packed->point_rows()), whole_(filter().n_tiles()) {
    const bool apart = exact() || length(plan.bandwidths) > 1;
    for (index_t begin = 0, end = 0; begin < filter().n_tiles(); begin = end) {
      while (end < filter().n_tiles() && (!apart || tile(end).label == tile(begin).label)) ++end;
      passes_.push_back({begin, end});
    }
  }

  void run(Checkpoint& checkpoint) {
    for (index_t q = 0; q < sums_.queries().n_blocks; ++q, checkpoint()) run(q);
  }

  // Sums one block of queries. Exact sums begin with the nearest tile of each label, approximate sums with the nearest
  // tile of any label. Then the pairs that pass the filter are added: as whole tiles, or one by one if they are few.
  void run(index_t q) {
    if (passes_.empty()) return;
    const index_t first = chunk_.begin + q * tile_rows;
    block_.set(filter(), plan_.query_coordinates.data(), plan_.rows.data() + first,
               std::min<index_t>(tile_rows, chunk_.end - first));
    pairs_.start(sums_.queries(), q);
    ++n_blocks_;
    sums_.open(q);
    index_t nearest = -1;
    if (!exact()) nearest = begin_in({0, filter().n_tiles()});
    for (const Range& tiles : passes_) {
      if (exact()) nearest = begin_in(tiles);
      add_near(tiles, nearest);
    }
    sums_.flush();
  }

  // Returns the cost so far, in multiply-adds on whole vectors.
  double cost() const {
    const double d = static_cast<double>(plan_.request.points.cols);
    return pruning_costs.filter * static_cast<double>(block_.n_coordinates()) * tile_rows * panel_vectors +
           pruning_costs.box * static_cast<double>(block_.n_box_coordinates()) +
           static_cast<double>(n_blocks_) * pruning_costs.pass * static_cast<double>(length(passes_)) +
           static_cast<double>(n_vectors_) * tile_rows * (pruning_costs.form * d + pruning_costs.kernel) +
           static_cast<double>(pairs_.n_measured()) *
               (pruning_costs.summed_pair +
                pruning_costs.summed_pair_vector * static_cast<double>(plan_.packed->point_rows().stride()) / lanes<T>);
  }
  // Returns the cost of all pairs of the same blocks, in the same unit.
  double cost_of_all() const {
    return static_cast<double>(n_blocks_) * static_cast<double>(plan_.points->n_columns()) / lanes<T> * tile_rows *
           (static_cast<double>(plan_.request.points.cols) + pruning_costs.kernel);
  }

 private:
  static constexpr int dense_from = 5;  // a tile is computed whole if more than one pair in five matters
  // Number of subsequent blocks that also compute such a tile whole, without the filter: successive blocks lie close
  // together, so the tile matters to them too.
  static constexpr int trusted = 3;

  const TileFilter& filter() const { return plan_.packed->filtered()->filter(); }
  const Tile& tile(index_t t) const { return plan_.points->tiles()[t]; }

  bool exact() const { return plan_.request.tolerance() == 0; }

  index_t begin_in(const Range& tiles) {
    std::fill_n(least_, tile_rows, std::numeric_limits<double>::infinity());
    std::fill_n(exponent_, tile_rows, std::numeric_limits<double>::infinity());
    sums_.reset_least();
    const index_t nearest = block_.nearest(tiles.begin, tiles.end);
    visit(tile(nearest));
    update_reach(tile(nearest).label);
    return nearest;
  }

  // Adds the tiles of a range except the tile `nearest`, which is already included.
  void add_near(const Range& tiles, index_t nearest) {
    if (length(passes_) > 1 && !exact()) {
      sums_.reset_least();
      update_reach(tile(tiles.begin).label);
    }
    if (few_features()) return add_within(tiles, nearest);
    index_t n_visited = 1, next_update = 2;
    auto visited = [&](index_t t) {
      if (++n_visited < next_update) return;
      next_update += 1 + n_visited / 4;
      update_reach(tile(t).label);
    };
    auto whole = [&](index_t t) {
      int& left = whole_[t];
      if (left == 0) return false;
      --left;
      visit(tile(t));
      visited(t);
      return true;
    };
    block_.for_each_near(tiles, {nearest, nearest + 1}, search_radius_, whole,
                         [&](index_t t, int n_hits, const std::uint64_t* bits) {
                           if (add(t, n_hits, bits)) visited(t);
                         });
    for (int r = 0; r < tile_rows; ++r) sums_.add(pairs_, r);
  }

  bool few_features() const { return plan_.request.points.cols <= boxes_suffice_to; }

  // Adds the tiles of a range whose boxes are within reach, except the tile `nearest`, which is already included. The
  // nearest of the other tiles is added first, because it shortens the reach. Then adjacent tiles are computed
  // together.
  void add_within(const Range& tiles, index_t nearest) {
    std::pair<float, index_t> next{std::numeric_limits<float>::infinity(), -1};
    block_.for_each_within(tiles, search_radius_.farthest, [&](index_t t) {
      if (t != nearest) next = std::min(next, {block_.bound(t), t});
    });
    if (next.second < 0) return;
    visit(tile(next.second));
    update_reach(tile(next.second).label);
    Tile run{};
    float least = 0;  // bound on the squared distance to the run
    auto visit_run = [&] {
      if (run.n_vectors > 0) visit(run, false, argument(plan_.request.kernel, least));
    };
    block_.for_each_within(tiles, search_radius_.farthest, [&](index_t t) {
      if (t == nearest || t == next.second) return;
      if (run.n_vectors > 0 && adjoins(run, tile(t))) {
        run.n_vectors += tile(t).n_vectors;
        run.largest_norm = std::max(run.largest_norm, tile(t).largest_norm);
        least = std::min(least, block_.bound(t));
        return;
      }
      visit_run();
      run = tile(t);
      least = block_.bound(t);
    });
    visit_run();
  }

  // Returns whether a tile may be appended to a run of tiles, so that both are computed as one tile.
  bool adjoins(const Tile& run, const Tile& next) const {
    return next.label == run.label && run.first + run.n_vectors * lanes<T> == next.first &&
           run.n_vectors % panel_vectors == 0 && run.n_vectors + next.n_vectors <= tile_vectors &&
           plan_.weights->one_for_a_point();
  }

  void visit(const Tile& tile, bool with_least = true, double least = 0) {
    if (sums_.leaves_out_whole(tile)) return;
    sums_.select(tile.label);
    sums_.flush_if_full();
    sums_.add(tile, with_least, least);
    n_vectors_ += tile.n_vectors;
  }

  // Returns whether any term was added. If so, the reach may have shrunk.
  bool add(index_t t, int n_hits, const std::uint64_t* bits) {
    const Tile& tile = this->tile(t);
    if (n_hits * dense_from > sums_.n_rows() * tile.n_vectors * lanes<T>) {
      whole_[t] = trusted;
      visit(tile);
      return true;
    }
    bool summed = false;
    for (int r = 0; r < tile_rows; ++r) {
      if (!bits[r]) continue;
      pairs_.add(r, tile, bits[r]);
      if (pairs_.size(r) < NearPairs<T>::settled_at) continue;
      sums_.add(pairs_, r);
      summed = true;
    }
    return summed;
  }

  // Updates, for each row, the squared distance beyond which terms are negligible. Exponents are kept instead of
  // arguments, because labels may have separate bandwidths.
  void update_reach(int label) {
    const double rate = plan_.of(label).lowest_rate;
    sums_.select(label);
    search_radius_.set(sums_.n_rows(), [&](index_t r) {
      const double nearest = static_cast<double>(sums_.least(r));
      least_[r] = std::min(least_[r], rate * nearest);
      exponent_[r] = std::min(exponent_[r], plan_.reach.exponent(label, rate, nearest));
      if (plan_.reach.bounded()) exponent_[r] = std::min(exponent_[r], sums_.exponent(r));
      return plan_.reach.squared(label, rate, least_[r] / rate, exponent_[r]);
    });
  }

  const SumPlan<T>& plan_;
  const Range chunk_;
  BlockSums<T>& sums_;
  TileFilter::Block block_;
  NearPairs<T> pairs_;
  std::vector<int> whole_;  // for each tile: how many more blocks compute it whole
  SearchRadius search_radius_;
  std::vector<Range> passes_;  // consecutive ranges of tiles: one for each label, or one for all
  // For each row, the smallest argument times its rate, and the smallest exponent of the partial sum: of the current
  // label if sums are exact, otherwise of all labels.
  double least_[tile_rows], exponent_[tile_rows];
  index_t n_blocks_ = 0, n_vectors_ = 0;
};

}  // namespace spectralcls::detail
