// The common part of nearest_neighbors() and reverse_neighbors(): the tiles of the points, their filter if it pays off,
// the form of the distances, bounds on their errors, and the exact distances of the few relevant pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "geometry/distance_tile.hpp"
#include "geometry/exact_distance.hpp"
#include "geometry/filtered_tiles.hpp"
#include "geometry/pruning.hpp"
#include "geometry/query_chunks.hpp"
#include "infrastructure/costs.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls::detail {

template <class T>
class TileSearch {
 public:
  // The amount of work that a search through the filter has done.
  struct Work {
    index_t blocks = 0, coordinates = 0, box_coordinates = 0, vectors = 0, candidates = 0, pairs = 0;
  };

  // `query_bytes` is the memory that a search keeps for each query. This memory limits the number of queries in a
  // chunk.
  TileSearch(MatrixView<T> queries, MatrixView<T> points, index_t query_bytes, bool filtered,
             const Execution& execution)
      : chunk_rows_(std::clamp<index_t>(chunk_bytes / static_cast<index_t>(query_bytes) / tile_rows * tile_rows,
                                        tile_rows, query_chunk_rows)),
        queries_(queries),
        points_(points),
        execution_(execution.for_work(static_cast<double>(queries.rows) * static_cast<double>(points.rows) *
                                      static_cast<double>(points.cols + 8))),
        geometry_(Geometry::of(points, lengths_of(queries), execution_)),
        filtered_(filtered ? std::make_unique<FilteredTiles<T>>(points, geometry_, execution_) : nullptr),
        tiles_(pack()),
        rows_(queries.rows) {
    std::iota(rows_.begin(), rows_.end(), index_t{0});
    if (filtered_) coordinates_ = filtered_->arrange(queries, geometry_, rows_, {{0, queries.rows}}, execution_);
  }

  const PackedTiles<T>& tiles() const { return tiles_; }
  double scale() const { return geometry_.scale; }
  index_t n_chunks() const { return n_query_chunks(queries_.rows, chunk_rows_); }
  // The filter of the tiles; nullptr: all pairs are compared.
  const TileFilter* filter() const { return filtered_ ? &filtered_->filter() : nullptr; }

  // Calls body(number of the chunk, chunk, checkpoint) for every chunk of queries.
  template <class Body>
  void for_each(Body&& body) const {
    for_each_query_chunk(queries_, rows_, chunk_rows_, geometry_, execution_, body);
  }

  // Runs the search for a chunk: block by block with the filter, otherwise tile by tile over all pairs.
  template <class Search>
  void run(const QueryChunk<T>& chunk, Search& search, Checkpoint& checkpoint) const {
    const index_t n_blocks = chunk.n_blocks();
    if (filter()) {
      for (index_t b = 0; b < n_blocks; ++b, checkpoint()) search.look(b);
    } else {
      for (const Tile& tile : tiles_.tiles()) {
        for (index_t b = 0; b < n_blocks; ++b) search.compare(b, tile);
        checkpoint();
      }
    }
  }

  // Prepares the filter for one block of a chunk.
  void look(const QueryChunk<T>& chunk, index_t block, TileFilter::Block& from) const {
    from.set(*filter(), coordinates_.data(), chunk.rows_of(block), chunk.size_of(block));
  }

  // Returns a block of queries for a trial.
  QueryChunk<T> block(const Range& places) const { return {queries_, rows_, places, geometry_}; }
  // Returns the cost of the tried blocks with the filter, and the cost of comparing all pairs of the same blocks.
  // `candidates` is the fraction of all pairs that become candidates.
  TrialCost cost_of(const Work& work, double candidates) const {
    const double d = static_cast<double>(points_.cols);
    return {pruning_costs.search_filter * static_cast<double>(work.coordinates) * tile_rows * panel_vectors +
                pruning_costs.box * static_cast<double>(work.box_coordinates) +
                static_cast<double>(work.vectors) * tile_rows * pair_cost(points_.cols, 0) +
                static_cast<double>(work.candidates) * pruning_costs.candidate +
                static_cast<double>(work.pairs) * (pruning_costs.exact_pair + pruning_costs.exact_pair_feature * d),
            static_cast<double>(work.blocks * tiles_.n_columns()) / lanes<T> * tile_rows *
                pair_cost(points_.cols, candidates)};
  }

  // Returns the cost of comparing a pair, in multiply-adds. `candidates` is the fraction of all pairs that become
  // candidates.
  static double pair_cost(index_t d, double candidates) {
    return static_cast<double>(d) + pruning_costs.scan + lanes<T> * pruning_costs.candidate * candidates;
  }

  // Returns a bound on the error of the product form: 2 (d + 8) epsilon times the sum of the block's and the tile's
  // largest squared norms, where d is the number of features. Half of the bound covers the sums, the other half the
  // rounding of the centered coordinates.
  double product_error(const QueryChunk<T>& chunk, index_t block, const Tile& tile) const {
    return 2 * rounding() * (chunk.packed.largest_norm[block] + tile.largest_norm);
  }
  // Returns whether the error of the product form is small relative to `scale`, the relevant squared distance.
  bool product_suffices(double error, double scale) const { return error <= 0.1 * scale; }
  // With few features, returns the difference form. Otherwise returns the product form if its error is small enough, or
  // if a filter leaves only few pairs.
  DistanceForm form(double error, double scale) const {
    if (points_.cols <= difference_to) return DistanceForm::difference;
    return filter() || product_suffices(error, scale) ? DistanceForm::product : DistanceForm::difference;
  }
  // Returns a limit that the computed squared distance never exceeds if the true one is at most `squared`.
  T computed_limit(DistanceForm form, double squared, double error) const {
    const double limit = form == DistanceForm::product ? squared + error : squared * (1 + 2 * rounding());
    return static_cast<T>(limit * (1 + 2.0 * std::numeric_limits<T>::epsilon()) +
                          static_cast<double>(points_.cols) * std::numeric_limits<T>::min());
  }

  // Returns bounds on the scaled squared distance, given its computed value.
  std::pair<double, double> bounds(DistanceForm form, T computed, double error) const {
    const double width = form == DistanceForm::product ? error : 2 * rounding() * computed;
    const double flushed = static_cast<double>(points_.cols) * std::numeric_limits<T>::min();
    return {computed - width, computed + width + flushed};
  }

  // Returns the scaled squared distance, computed from the original coordinates.
  double exact(index_t query, index_t point) const {
    return squared_distance(queries_.row(query), points_.row(point), points_.cols, 1 / geometry_.scale);
  }
  T distance(double exact_squared) const { return static_cast<T>(std::sqrt(exact_squared) * geometry_.scale); }

 private:
  static constexpr index_t chunk_bytes = 64 << 20;  // of the candidates of one chunk of queries
  static constexpr index_t difference_to = 4;  // number of features up to which differences cost no more than products

  // Returns lengths at which no squared distance from a query overflows, and exact ones, in double, do not underflow.
  static Lengths lengths_of(MatrixView<T> queries) {
    T largest = 0;
    for (index_t i = 0; i < queries.rows * queries.cols; ++i) largest = std::max(largest, std::abs(queries.data[i]));
    if (sizeof(T) == 8) return {0, std::ldexp(static_cast<double>(largest), -480)};
    return {std::numeric_limits<double>::infinity(), std::ldexp(static_cast<double>(largest), -50)};
  }

  PackedTiles<T> pack() const {
    const bool with_product = points_.cols > difference_to;
    if (filtered_) return filtered_->pack(points_, geometry_, {}, with_product, !with_product, execution_);
    return {points_, geometry_, {}, with_product, true, false, execution_};
  }
  double rounding() const { return static_cast<double>(points_.cols + 8) * std::numeric_limits<T>::epsilon(); }

  index_t chunk_rows_;
  MatrixView<T> queries_, points_;
  Execution execution_;
  Geometry geometry_;
  std::unique_ptr<FilteredTiles<T>> filtered_;
  PackedTiles<T> tiles_;
  std::vector<index_t> rows_;
  AlignedVector<float> coordinates_;  // of the queries, for the filter
};

// Makes a search, with the filter if the filter pays off. `candidates` is the fraction of the pairs that become
// candidates if all pairs are compared. run(search, chunk) searches with a chunk of one block and returns the work
// done.
template <class T, class Run>
std::unique_ptr<const TileSearch<T>> search_of(MatrixView<T> queries, MatrixView<T> points, index_t query_bytes,
                                               double candidates, const Execution& execution,
                                               const SquaredReach& squared_reach, Run&& run) {
  return prune_if_it_pays(
      queries.rows,
      [&](bool prunes) {
        return std::make_unique<const TileSearch<T>>(queries, points, query_bytes, prunes, execution);
      },
      [&] {
        constexpr index_t from_features = 4;  // a distance in fewer features costs as little as the filter
        const double pair_cost = TileSearch<T>::pair_cost(points.cols, candidates);
        return points.cols >= from_features && filter_may_pay(queries, points, {}, {}, pair_cost, squared_reach);
      },
      [&](const TileSearch<T>& search, const Range& places) {
        const QueryChunk<T> chunk = search.block(places);
        const FlushSubnormals guard;
        return search.cost_of(run(search, chunk), candidates);
      });
}

// Calls hit(column) for each squared distance below its limit in the v-th vector of a row D.
template <class T, class Hit>
inline void scan(const T* D, int v, Vec<T> limit, Hit&& hit) {
  for (unsigned bits = less_bits<T>(load(D + v * lanes<T>), limit); bits; bits &= bits - 1)
    hit(v * lanes<T> + __builtin_ctz(bits));
}

}  // namespace spectralcls::detail
