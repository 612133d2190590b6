// How one call of kernel_sums is laid out: packed points and weights, the order of queries, and the chunks, blocks and
// parts into which the pairs are cut. All of it depends on the request alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "spectralcls/distance_tile.hpp"
#include "spectralcls/kernel_sums.hpp"
#include "spectralcls/ladder.hpp"
#include "column_sums.hpp"

namespace spectralcls::detail {

constexpr index_t chunk_rows = 128;           // queries of one chunk
constexpr index_t block_bytes = 256 * 1024;   // points that stay in the second-level cache while queries pass
constexpr index_t block_vectors = 256;        // and whose sums stay in T before they are added in double
constexpr index_t ordering_pays_from = 1024;  // queries; sorting the points costs about as much as 100 of them
constexpr index_t boxes_pay_to = 8;           // features; beyond, boxes of neighbours overlap

template <class T>
struct SumPlan {
  struct Block {
    std::size_t begin, end;  // tiles
  };
  struct Chunk {
    index_t begin, end;  // places in `rows`
    index_t group;       // of its queries, -1 without groups
    index_t size() const { return end - begin; }
  };

  const KernelSums<T>& request;
  bool gaussian;
  Geometry geometry;
  std::vector<double> rates;  // of the bandwidths
  double lowest_rate, highest_rate;
  std::vector<Ladder> ladders;
  bool always_difference;
  std::unique_ptr<PackedPoints<T>> points;
  std::vector<index_t> rows;       // query of each place in the order of computation
  std::vector<index_t> positions;  // packed column of each point, if points are left out
  ColumnLayout<T> columns;
  AlignedVector<T> weights;        // per tile: [bandwidth][layout of the columns], or one layout for all bandwidths
  std::vector<Chunk> chunks;
  std::vector<Block> blocks;
  index_t n_parts = 1;

  explicit SumPlan(const KernelSums<T>& sums)
      : request(sums),
        gaussian(sums.kernel == Kernel::gaussian),
        geometry(Geometry::of(sums.points, *std::min_element(sums.bandwidths.begin(), sums.bandwidths.end()))),
        columns(sums.n_columns) {
    for (const double h : request.bandwidths) rates.push_back(rate<T>(request.kernel, geometry.unit, h));
    lowest_rate = *std::min_element(rates.begin(), rates.end());
    highest_rate = *std::max_element(rates.begin(), rates.end());
    ladders = make_ladders(rates, longest_ladder<T>);
    choose_packing();
    if (request.excluded) index_positions();
    pack_weights();
    divide();
  }

  // The weights of a tile's points for a bandwidth, nullptr for ones.
  const T* weights_of(const Tile& tile, index_t bandwidth) const {
    if (!request.weights) return nullptr;
    const index_t set = request.weights_by_bandwidth ? bandwidth : 0, width = tile.n_vectors * lanes<T>;
    return weights.data() + (tile.first * n_weight_sets() + set * width) * columns.weights_per_point();
  }
  int label_of(const Tile& tile) const { return tile.segment / request.n_groups; }
  bool leaves_out(const Chunk& chunk, const Tile& tile) const {
    return request.point_groups && tile.segment % request.n_groups == chunk.group;
  }

 private:
  void choose_packing() {
    const auto& r = request;
    const bool order = r.queries.rows >= ordering_pays_from && r.points.cols <= boxes_pay_to &&
                       r.points.rows > 4 * tile_width<T>;
    // Compact kernels use differences: which points lie inside the support must not hang on cancellation.
    always_difference = !gaussian || r.points.cols <= 3;
    const std::vector<std::int64_t> segments = segments_of_points();
    points = std::make_unique<PackedPoints<T>>(r.points, geometry, segments.empty() ? r.labels : segments.data(),
                                                r.n_labels * r.n_groups, !always_difference, true, order);
    rows.resize(static_cast<std::size_t>(r.queries.rows));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<index_t>(i);
    if (r.query_groups)
      std::stable_sort(rows.begin(), rows.end(), [&](index_t a, index_t b) { return r.query_groups[a] < r.query_groups[b]; });
    for (index_t begin = 0; begin < r.queries.rows;) {
      const index_t group = group_of(rows[static_cast<std::size_t>(begin)]);
      index_t end = begin;
      while (end < r.queries.rows && group_of(rows[static_cast<std::size_t>(end)]) == group) ++end;
      if (order) order_by_locality(r.queries, rows, begin, end, index_t{tile_rows});
      for (; begin < end; begin += chunk_rows) chunks.push_back({begin, std::min(begin + chunk_rows, end), group});
      begin = end;
    }
  }

  index_t group_of(index_t query) const { return request.query_groups ? static_cast<index_t>(request.query_groups[query]) : -1; }

  // With groups a segment of points is one label and one group, labels outermost; empty without groups.
  std::vector<std::int64_t> segments_of_points() const {
    const auto& r = request;
    std::vector<std::int64_t> segments;
    if (!r.point_groups) return segments;
    segments.resize(static_cast<std::size_t>(r.points.rows));
    for (index_t i = 0; i < r.points.rows; ++i) {
      const std::int64_t label = r.labels ? r.labels[i] : 0;
      segments[static_cast<std::size_t>(i)] = label < 0 ? -1 : label * r.n_groups + r.point_groups[i];
    }
    return segments;
  }

  // Packed columns of the points, needed only to leave some out.
  void index_positions() {
    positions.assign(static_cast<std::size_t>(request.points.rows), index_t{-1});
    for (index_t column = 0; column < points->n_columns(); ++column) {
      const index_t row = points->source()[static_cast<std::size_t>(column)];
      if (row >= 0) positions[static_cast<std::size_t>(row)] = column;
    }
  }

  // Weights for every bandwidth or for each.
  index_t n_weight_sets() const {
    return request.weights_by_bandwidth ? static_cast<index_t>(request.bandwidths.size()) : 1;
  }

  void pack_weights() {
    if (!request.weights) return;
    const index_t sets = n_weight_sets(), per_point = columns.weights_per_point();
    weights.resize(static_cast<std::size_t>(points->n_columns() * sets * per_point));
    for (const Tile& tile : points->tiles()) {
      const index_t width = tile.n_vectors * lanes<T>;
      for (index_t j = 0; j < width; ++j) {
        const index_t point = points->source()[static_cast<std::size_t>(tile.first + j)];
        if (point < 0) continue;
        for (index_t set = 0; set < sets; ++set)
          columns.pack(request.weights + (point * sets + set) * request.n_columns, j, width,
                       weights.data() + (tile.first * sets + set * width) * per_point);
      }
    }
  }

  // Blocks of points, and parts of blocks when there are too few queries to keep many threads busy. Both depend on
  // the sizes alone, never on the number of threads.
  void divide() {
    const auto& tiles = points->tiles();
    const index_t vectors =
        std::min(block_vectors, std::max<index_t>(1, block_bytes / (request.points.cols * vector_bytes)));
    for (std::size_t t = 0; t < tiles.size();) {
      std::size_t end = t;
      for (index_t used = 0; end < tiles.size() && (end == t || used + tiles[end].n_vectors <= vectors); ++end)
        used += tiles[end].n_vectors;
      blocks.push_back({t, end});
      t = end;
    }
    constexpr index_t enough_tasks = 48;
    const auto n_chunks = static_cast<index_t>(chunks.size());
    if (n_chunks > 0 && n_chunks < enough_tasks)
      n_parts = std::clamp<index_t>(enough_tasks / n_chunks, 1, std::max<index_t>(1, static_cast<index_t>(blocks.size()) / 2));
  }
};

}  // namespace spectralcls::detail
