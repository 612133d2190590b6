// The plan of one call of kernel_sums: packed points and weights, the order of queries, and the chunks, blocks and
// parts into which the pairs are divided. The plan depends only on the request, never on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "geometry/distance_tile.hpp"
#include "geometry/locality.hpp"
#include "sums/geometric_grid.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/packed_points_cache.hpp"
#include "sums/profile.hpp"
#include "sums/pruning_radius.hpp"
#include "sums/tile_arguments.hpp"

namespace spectralcls::detail {

constexpr index_t block_bytes = 256 * 1024;  // of points; they stay in the second-level cache for a chunk of queries
constexpr index_t block_vectors = 256;       // summed in T before the sums are added in double
constexpr double ordering_pays_at = 0.1;     // least share of negligible kernel values

// The bandwidths of one label, or of all labels.
template <class T>
struct Bandwidths {
  std::vector<double> rates;
  double lowest_rate, highest_rate;
  std::vector<GeometricGrid> grids;
  TileArguments<T> arguments;

  Bandwidths(Kernel kernel, std::vector<double> of, index_t dimension)
      : rates(std::move(of)),
        lowest_rate(*std::min_element(rates.begin(), rates.end())),
        highest_rate(*std::max_element(rates.begin(), rates.end())),
        grids(geometric_grids(rates, longest_grid<T>)),
        arguments(kernel, highest_rate, dimension) {}

  // Calls rescale(2^(rate shift)) for every bandwidth in turn.
  template <class Rescale>
  void for_each_shift(double shift, Rescale&& rescale) const {
    constexpr index_t W = lanes<double>;
    const auto n = length(rates);
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
};

template <class T>
struct SumPlan {
  const KernelSums<T>& request;
  bool scaled;                 // whether sums of a row are relative to the kernel value at its shift
  bool compact, rates_double;  // of the kernel
  index_t n_bandwidths;
  double negligible;  // kernel values below 2^-negligible times the largest of the row count as zero
  PruningRadius<T> reach;
  std::shared_ptr<const PackedPoints<T>> packed;
  const PackedTiles<T>* points;
  std::vector<Bandwidths<T>> bandwidths;   // one for each label, or one for all
  AlignedVector<float> query_coordinates;  // principal coordinates, if pairs are pruned
  std::vector<index_t> rows;               // query at each place in the order of computation
  PackedWeights<T> own_weights;
  const PackedWeights<T>* weights;
  std::vector<Range> chunks;  // of `rows`
  std::vector<Range> blocks;  // of tiles
  index_t n_parts = 1;

  // If `prunes`, radius.weigh() must have been called.
  SumPlan(const KernelSums<T>& sums, bool with_scale, const PruningRadius<T>& radius, bool prunes,
          const Execution& execution)
      : request(sums),
        scaled(with_scale),
        compact(traits(sums.kernel).decay == Decay::compact),
        rates_double(traits(sums.kernel).rates_double),
        n_bandwidths(sums.n_bandwidths()),
        negligible(negligible_bits(sums, scaled)),
        reach(radius),
        packed(prunes             ? for_pruning(execution)
               : suits(execution) ? sums.cache->plain(execution)
                                  : pack(execution)),
        points(&packed->tiles()),
        bandwidths(bandwidths_of(sums, packed->geometry().scale)),
        own_weights(keeps_weights() ? nullptr : sums.weights, n_weight_sets(), sums.n_columns, *points),
        weights(keeps_weights() ? packed->weights() : &own_weights) {
    const auto sharpest = std::max_element(bandwidths.begin(), bandwidths.end(), [](const auto& a, const auto& b) {
      return a.highest_rate < b.highest_rate;
    });
    prepare_differences(sharpest->arguments, execution);
    order_queries(execution);
    divide();
  }

  const Bandwidths<T>& of(int label) const { return bandwidths[request.bandwidths_by_label ? label : 0]; }
  const ColumnLayout<T>& columns() const { return weights->layout(); }
  // Returns the group of the query at a place of `rows`, -1 without groups.
  index_t group_at(index_t place) const {
    return request.query_groups ? static_cast<index_t>(request.query_groups[rows[place]]) : -1;
  }

 private:
  // Let n be the number of points. Without a scale, or with weights (the nearest points may have weight zero), only
  // values below the range of T are negligible. Otherwise a value is negligible if n such values add at most 2^-8 ulp
  // of the term of the nearest point.
  static double negligible_bits(const KernelSums<T>& sums, bool scaled) {
    const double n = static_cast<double>(std::max<index_t>(sums.points.rows, 1));
    return scaled && !sums.weights ? std::numeric_limits<T>::digits + 8 + std::log2(n)
                                   : 1 - std::numeric_limits<T>::min_exponent;
  }

  static std::vector<Bandwidths<T>> bandwidths_of(const KernelSums<T>& sums, double scale) {
    const index_t n_sets = sums.bandwidths_by_label ? sums.n_labels : 1, n = sums.n_bandwidths();
    std::vector<Bandwidths<T>> all;
    for (index_t set = 0; set < n_sets; ++set) {
      std::vector<double> rates;
      for (index_t b = 0; b < n; ++b)
        rates.push_back(rate<T>(sums.kernel, scale, sums.bandwidths[sums.bandwidth_index(b, set)]));
      all.emplace_back(sums.kernel, std::move(rates), sums.points.cols);
    }
    return all;
  }

  bool suits(const Execution& execution) const {
    return request.cache && request.cache->suits(request.lengths(), execution);
  }
  Geometry geometry(const Execution& execution) const {
    return Geometry::of(request.points, request.lengths(), execution);
  }
  bool keeps_weights() const { return packed->weights() && packed->weights()->given() == request.weights; }
  index_t n_weight_sets() const { return request.weights_by_bandwidth ? n_bandwidths : 1; }

  Grouping grouping() const {
    return {request.labels, request.n_labels, request.point_groups, request.point_groups ? request.n_groups : 1};
  }
  bool with_product() const { return !TileArguments<T>::always_difference(request.kernel, request.points.cols); }

  std::shared_ptr<const PackedPoints<T>> for_pruning(const Execution& execution) const {
    if (suits(execution)) return request.cache->for_pruning(execution);
    return std::make_shared<PackedPoints<T>>(request.points, geometry(execution), grouping(), with_product(),
                                             execution);
  }

  std::shared_ptr<const PackedPoints<T>> pack(const Execution& execution) const {
    const auto& r = request;
    const bool order = r.queries.rows >= ordering_pays_from && r.points.cols <= boxes_pay_to &&
                       r.points.rows > 4 * tile_width<T> && share_out_of_reach() > ordering_pays_at;
    return std::make_shared<PackedPoints<T>>(r.points, geometry(execution), grouping(), with_product(), order,
                                             execution);
  }

  // Adds the coordinates for the difference form if most tiles need them. Otherwise the first tile that needs them adds
  // them.
  void prepare_differences(const TileArguments<T>& arguments, const Execution& execution) const {
    if (arguments.prefers_differences(packed->filtered(), [&] {
          return packed->largest_norm() + packed->largest_norm(request.queries, execution);
        }))
      packed->with_differences(execution);
  }

  void order_queries(const Execution& execution) {
    const auto& r = request;
    rows.resize(r.queries.rows);
    std::iota(rows.begin(), rows.end(), index_t{0});
    if (r.query_groups)
      std::stable_sort(rows.begin(), rows.end(),
                       [&](index_t a, index_t b) { return r.query_groups[a] < r.query_groups[b]; });
    const std::vector<Range> ranges = r.in_order ? std::vector<Range>{} : ranges_of_groups();
    if (packed->filtered())
      query_coordinates = packed->filtered()->arrange(r.queries, packed->geometry(), rows, ranges, execution);
    else if (packed->by_locality() && r.queries.rows >= ordering_pays_from)
      order_by_locality(r.queries, rows, ranges, index_t{tile_rows}, execution);
    for (index_t begin = 0; begin < r.queries.rows; begin += query_chunk_rows)
      chunks.push_back({begin, std::min(begin + query_chunk_rows, r.queries.rows)});
  }

  // Returns the places of the queries of each group, which are adjacent. Without groups there is one range.
  std::vector<Range> ranges_of_groups() const {
    std::vector<Range> ranges;
    for (index_t begin = 0, end = 0; begin < request.queries.rows; begin = end) {
      while (end < request.queries.rows && group_at(end) == group_at(begin)) ++end;
      ranges.push_back({begin, end});
    }
    return ranges;
  }

  // Returns the fraction of kernel values that are negligible, over all bandwidths and a sample of the pairs.
  double share_out_of_reach() const {
    constexpr index_t some = 48;  // number of queries and number of points of the sample
    const auto& r = request;
    const double limit = compact ? 1 : negligible;
    std::vector<double> rates;  // of the bandwidths, for unscaled distances
    for (const double h : r.bandwidths) rates.push_back(rate<double>(r.kernel, 1.0, h));
    const index_t n_queries = std::min(some, r.queries.rows), n_points = std::min(some, r.points.rows);
    index_t beyond = 0, n_pairs = 0;
    for (index_t i = 0; i < n_queries; ++i)
      for (index_t j = 0; j < n_points; ++j) {
        const index_t query = i * r.queries.rows / n_queries, point = j * r.points.rows / n_points;
        const std::int64_t label = r.labels ? r.labels[point] : 0;
        if (label < 0) continue;
        double squared = 0;
        for (index_t k = 0; k < r.points.cols; ++k) {
          const double difference =
              static_cast<double>(r.queries.row(query)[k]) - static_cast<double>(r.points.row(point)[k]);
          squared += difference * difference;
        }
        const double distance = argument(r.kernel, squared);
        for (index_t b = 0; b < n_bandwidths; ++b, ++n_pairs)
          beyond += distance * rates[r.bandwidth_index(b, label)] > limit;
      }
    return static_cast<double>(beyond) / static_cast<double>(std::max<index_t>(n_pairs, 1));
  }

  // Divides the tiles into blocks, and the blocks into parts if there are too few queries to keep many threads busy.
  // Both divisions depend only on sizes, never on the number of threads.
  void divide() {
    const auto& tiles = points->tiles();
    const index_t vectors =
        std::min(block_vectors, std::max<index_t>(1, block_bytes / (request.points.cols * vector_bytes)));
    const auto n_tiles = length(tiles);
    for (index_t t = 0; t < n_tiles;) {
      index_t end = t;
      for (index_t used = 0; end < n_tiles && (end == t || used + tiles[end].n_vectors <= vectors); ++end)
        used += tiles[end].n_vectors;
      blocks.push_back({t, end});
      t = end;
    }
    constexpr index_t enough_tasks = 48;  // for the threads of a large machine
    const auto n_chunks = length(chunks);
    if (!packed->filtered() && n_chunks > 0 && n_chunks < enough_tasks)
      n_parts = std::clamp<index_t>(enough_tasks / n_chunks, 1, std::max<index_t>(1, length(blocks) / 2));
  }
};

}  // namespace spectralcls::detail
