// How one call of kernel_sums is laid out: packed points and weights, the order of queries, and the chunks, blocks and
// parts into which the pairs are cut. All of it depends on the request alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "base/distance_tile.hpp"
#include "base/locality.hpp"
#include "sums/column_sums.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/ladder.hpp"
#include "sums/profile.hpp"
#include "sums/tile_arguments.hpp"

namespace spectralcls::detail {

constexpr index_t chunk_rows = 128;           // queries of one chunk
constexpr index_t block_bytes = 256 * 1024;   // points that stay in the second-level cache while queries pass
constexpr index_t block_vectors = 256;        // and whose sums stay in T before they are added in double
constexpr index_t ordering_pays_from = 1024;  // queries; sorting the points costs about as much as 100 of them
constexpr index_t boxes_pay_to = 8;           // features; beyond, boxes of neighbours overlap
constexpr double ordering_pays_at = 0.1;      // share of pairs whose kernel value counts as zero

template <class T>
struct SumPlan {
  const KernelSums<T>& request;
  bool compact, rates_double;  // of the kernel
  Geometry geometry;
  std::vector<double> rates;  // of the bandwidths
  double lowest_rate, highest_rate;
  double negligible;          // a kernel value of 2^-negligible beside the largest of its row counts as zero
  std::vector<Ladder> ladders;
  TileArguments<T> arguments;
  std::unique_ptr<PackedPoints<T>> points;
  std::vector<index_t> rows;       // query of each place in the order of computation
  std::vector<index_t> positions;  // packed column of each point, if points are left out
  ColumnLayout<T> columns;
  AlignedVector<T> weights;        // per tile: [bandwidth][layout of the columns], or one layout for all bandwidths
  std::vector<Range> chunks;       // of `rows`
  std::vector<Range> blocks;       // of tiles
  index_t n_parts = 1;

  // scaled: whether rows follow their largest kernel value, beside which others are negligible.
  SumPlan(const KernelSums<T>& sums, bool scaled, const Execution& execution)
      : request(sums),
        compact(traits(sums.kernel).decay == Decay::compact),
        rates_double(traits(sums.kernel).rates_double),
        geometry(Geometry::of(sums.points, *std::min_element(sums.bandwidths.begin(), sums.bandwidths.end()), execution)),
        rates(rates_of(sums, geometry.unit)),
        lowest_rate(*std::min_element(rates.begin(), rates.end())),
        highest_rate(*std::max_element(rates.begin(), rates.end())),
        arguments(sums.kernel, highest_rate, sums.points.cols, scaled),
        columns(sums.n_columns) {
    // Without a scale a value is zero below the range of T; so it is with weights, since the nearest points may weigh
    // nothing. Otherwise all points together may add 2^-8 of a rounding to what the nearest one brings.
    const double n = static_cast<double>(std::max<index_t>(request.points.rows, 1));
    negligible = scaled && !request.weights ? std::numeric_limits<T>::digits + 8 + std::log2(n)
                                            : 1 - std::numeric_limits<T>::min_exponent;
    ladders = make_ladders(rates, longest_ladder<T>);
    choose_packing(execution);
    if (request.excluded) index_positions();
    pack_weights();
    divide();
  }

  // Calls rescale(2^(rate shift)) for every bandwidth in turn.
  template <class Rescale>
  void for_each_shift(double shift, Rescale&& rescale) const {
    constexpr index_t W = lanes<double>;
    const auto n = static_cast<index_t>(rates.size());
    for (index_t b = 0; b < n; b += W) {
      const index_t count = std::min(W, n - b);
      alignas(vector_bytes) double factor[W] = {};
      std::copy_n(rates.data() + b, count, factor);
      Vec<double> x[1] = {load(factor) * shift + exp2_bias<double>};
      exp2_biased<double, 1>(x);
      store(factor, x[0]);
      for (index_t i = 0; i < count; ++i) rescale(factor[i]);
    }
  }

  // The weights of a tile's points for a bandwidth, nullptr for ones.
  const T* weights_of(const Tile& tile, index_t bandwidth) const {
    if (!request.weights) return nullptr;
    const index_t set = request.weights_by_bandwidth ? bandwidth : 0, width = tile.n_vectors * lanes<T>;
    return weights.data() + (tile.first * n_weight_sets() + set * width) * columns.weights_per_point();
  }
  // Group of the query at a place of `rows`, -1 without groups.
  index_t group_at(index_t place) const {
    return request.query_groups ? static_cast<index_t>(request.query_groups[rows[static_cast<std::size_t>(place)]]) : -1;
  }

 private:
  static std::vector<double> rates_of(const KernelSums<T>& sums, double unit) {
    std::vector<double> rates;
    for (const double h : sums.bandwidths) rates.push_back(rate<T>(sums.kernel, unit, h));
    return rates;
  }

  void choose_packing(const Execution& execution) {
    const auto& r = request;
    const bool order = r.queries.rows >= ordering_pays_from && r.points.cols <= boxes_pay_to &&
                       r.points.rows > 4 * tile_width<T> && share_out_of_reach() > ordering_pays_at;
    const bool with_difference = arguments.needs_difference(r.queries, r.points, geometry, execution);
    const Grouping grouping{r.labels, r.n_labels, r.point_groups, r.point_groups ? r.n_groups : 1};
    points = std::make_unique<PackedPoints<T>>(r.points, geometry, grouping, !arguments.always_difference(), with_difference, order, execution);

    rows.resize(static_cast<std::size_t>(r.queries.rows));
    std::iota(rows.begin(), rows.end(), index_t{0});
    if (r.query_groups)
      std::stable_sort(rows.begin(), rows.end(), [&](index_t a, index_t b) { return r.query_groups[a] < r.query_groups[b]; });
    if (order) order_by_locality(r.queries, rows, ranges_of_groups(), index_t{tile_rows}, execution);
    for (index_t begin = 0; begin < r.queries.rows; begin += chunk_rows)
      chunks.push_back({begin, std::min(begin + chunk_rows, r.queries.rows)});
  }

  // Places of the queries of each group, which are neighbours; all of them without groups.
  std::vector<Range> ranges_of_groups() const {
    std::vector<Range> ranges;
    for (index_t begin = 0, end = 0; begin < request.queries.rows; begin = end) {
      while (end < request.queries.rows && group_at(end) == group_at(begin)) ++end;
      ranges.push_back({begin, end});
    }
    return ranges;
  }

  // The share of (pair, bandwidth) that counts as zero, among the pairs of some queries and some points.
  double share_out_of_reach() const {
    constexpr index_t some = 48;
    const auto& r = request;
    const double reach = compact ? 1 : negligible;
    const index_t n_queries = std::min(some, r.queries.rows), n_points = std::min(some, r.points.rows);
    std::size_t beyond = 0;
    for (index_t i = 0; i < n_queries; ++i)
      for (index_t j = 0; j < n_points; ++j) {
        const T *q = r.queries.row(i * r.queries.rows / n_queries), *x = r.points.row(j * r.points.rows / n_points);
        double squared = 0;
        for (index_t k = 0; k < r.points.cols; ++k) {
          const double difference = (static_cast<double>(q[k]) - static_cast<double>(x[k])) / geometry.unit;
          squared += difference * difference;
        }
        for (const double rate : rates) beyond += argument(r.kernel, squared) * rate > reach;
      }
    return static_cast<double>(beyond) / static_cast<double>(n_queries * n_points * static_cast<index_t>(rates.size()));
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
    weights.assign(static_cast<std::size_t>(points->n_columns() * sets * per_point), T(0));  // padding weighs nothing
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
    const auto n_tiles = static_cast<index_t>(tiles.size());
    for (index_t t = 0; t < n_tiles;) {
      index_t end = t;
      for (index_t used = 0; end < n_tiles && (end == t || used + tiles[end].n_vectors <= vectors); ++end)
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
