// What both neighbour searches share: which tiles a chunk of queries must visit, in which order, with distances in
// which form, how wrong those can be, and the exact distance of the few pairs that matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "base/distance_tile.hpp"
#include "base/locality.hpp"
#include "base/parallel.hpp"

namespace spectralcls::detail {

template <class T>
class TileSearch {
 public:

  // The queries of one chunk, and their boxes.
  struct Chunk {
    const index_t* rows;
    index_t n_rows;
    PackedQueries<T> packed;
    std::vector<T> boxes, box;
  };

  // `query_bytes`: what a search keeps for one query; a chunk of them takes a bounded share of memory.
  TileSearch(MatrixView<T> queries, MatrixView<T> points, std::size_t query_bytes, const Execution& execution)
      : chunk_rows_(std::clamp<index_t>(chunk_bytes / static_cast<index_t>(query_bytes) / tile_rows * tile_rows, tile_rows, query_chunk_rows)),
        queries_(queries),
        source_(points),
        execution_(execution.for_work(static_cast<double>(queries.rows) * static_cast<double>(points.rows) *
                                      static_cast<double>(points.cols + 8))),
        geometry_(Geometry::of(points, reach_of(queries), execution_)),
        ordered_(queries.rows >= ordering_pays_from && points.cols <= boxes_pay_to),
        packed_(points, geometry_, {}, points.cols > difference_to, true, ordered_, execution_),
        rows_(static_cast<std::size_t>(queries.rows)) {
    std::iota(rows_.begin(), rows_.end(), index_t{0});
    if (ordered_) order_by_locality(queries, rows_, {{0, queries.rows}}, index_t{tile_rows}, execution_);
  }

  const PackedPoints<T>& points() const { return packed_; }
  double unit() const { return geometry_.unit; }
  index_t n_chunks() const { return (queries_.rows + chunk_rows_ - 1) / chunk_rows_; }

  // body(chunk number, Chunk, checkpoint)
  template <class Body>
  void for_each(Body&& body) const {
    for_each_chunk(n_chunks(), execution_, [&](std::ptrdiff_t c, Checkpoint& checkpoint) {
      const FlushSubnormals guard;
      Chunk chunk{rows_.data() + c * chunk_rows_, std::min(chunk_rows_, queries_.rows - c * chunk_rows_), {}, {}, {}};
      chunk.packed.pack(queries_, chunk.rows, chunk.n_rows, geometry_);
      if (ordered_) {
        chunk.boxes = boxes_of_blocks(chunk.packed);
        chunk.box = union_of_boxes(chunk.boxes, source_.cols);
      }
      body(c, chunk, checkpoint);
    });
  }

  // Tiles by increasing lower bound of their squared distance to the chunk.
  struct Visit {
    double bound;
    std::size_t tile;
  };
  std::vector<Visit> visits(const Chunk& chunk) const {
    const auto& tiles = packed_.tiles();
    std::vector<Visit> order(tiles.size());
    for (std::size_t t = 0; t < tiles.size(); ++t)
      order[t] = {ordered_ ? squared_gap(chunk.box.data(), packed_.box(tiles[t]), source_.cols) : 0.0, t};
    if (ordered_)
      std::sort(order.begin(), order.end(), [](const Visit& a, const Visit& b) {
        return a.bound < b.bound || (a.bound == b.bound && a.tile < b.tile);
      });
    return order;
  }

  // Lower bound of the squared distance between one block of queries and a tile.
  double bound(const Chunk& chunk, index_t block, const Tile& tile) const {
    if (!ordered_) return 0;
    return squared_gap(chunk.boxes.data() + block * 2 * source_.cols, packed_.box(tile), source_.cols);
  }

  // A bound of the error of the product form: d + 8 roundings of a sum of that magnitude, and those of the
  // centred coordinates.
  double product_error(const Chunk& chunk, index_t block, const Tile& tile) const {
    return 2 * rounding() * (chunk.packed.largest_norm[static_cast<std::size_t>(block)] + tile.largest_norm);
  }
  // The product form wherever its error is small beside the squared distance `scale` that matters.
  DistanceForm form(double error, double scale) const {
    return source_.cols > difference_to && error <= 0.1 * scale ? DistanceForm::product : DistanceForm::difference;
  }
  // No computed distance of a pair within `squared` exceeds this.
  T computed_limit(DistanceForm form, double squared, double error) const {
    const double limit = form == DistanceForm::product ? squared + error : squared * (1 + 2 * rounding());
    return static_cast<T>(limit * (1 + 2.0 * std::numeric_limits<T>::epsilon()) +
                          static_cast<double>(source_.cols) * std::numeric_limits<T>::min());
  }

  // Bounds of the squared distance in units whose computed value is `computed`.
  std::pair<double, double> bounds(DistanceForm form, T computed, double error) const {
    const double width = form == DistanceForm::product ? error : 2 * rounding() * computed;
    const double flushed = static_cast<double>(source_.cols) * std::numeric_limits<T>::min();
    return {computed - width, computed + width + flushed};
  }

  // Squared distance in units, of the coordinates as they came: eight sums in a fixed order.
  double exact(index_t query, index_t point) const {
    typedef T Eight __attribute__((vector_size(8 * sizeof(T))));
    typedef double Sums __attribute__((vector_size(8 * sizeof(double))));
    const T *q = queries_.row(query), *x = source_.row(point);
    const index_t d = source_.cols;
    const double scale = 1 / geometry_.unit;
    Sums sum = {};
    index_t k = 0;
    for (; k + 8 <= d; k += 8) {
      Eight left, right;
      std::memcpy(&left, q + k, sizeof left);
      std::memcpy(&right, x + k, sizeof right);
      const Sums difference = (__builtin_convertvector(left, Sums) - __builtin_convertvector(right, Sums)) * scale;
      sum += difference * difference;
    }
    double rest = 0;
    for (; k < d; ++k) {
      const double difference = (static_cast<double>(q[k]) - static_cast<double>(x[k])) * scale;
      rest += difference * difference;
    }
    return (((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]))) + rest;
  }
  T distance(double exact_squared) const { return static_cast<T>(std::sqrt(exact_squared) * geometry_.unit); }

 private:
  static constexpr index_t chunk_bytes = 64 << 20;
  static constexpr index_t ordering_pays_from = 1024;  // queries
  static constexpr index_t boxes_pay_to = 64;          // features; beyond, boxes of neighbours overlap
  static constexpr index_t difference_to = 4;          // features up to which differences cost no more than products

  // A length in units of which no query is so far away that its squared distances overflow.
  static double reach_of(MatrixView<T> queries) {
    T largest = 0;
    for (index_t i = 0; i < queries.rows * queries.cols; ++i) largest = std::max(largest, std::abs(queries.data[i]));
    return std::ldexp(static_cast<double>(largest), sizeof(T) == 4 ? -50 : -480);
  }

  double rounding() const { return static_cast<double>(source_.cols + 8) * std::numeric_limits<T>::epsilon(); }

  index_t chunk_rows_;
  MatrixView<T> queries_, source_;
  Execution execution_;
  Geometry geometry_;
  bool ordered_;
  PackedPoints<T> packed_;
  std::vector<index_t> rows_;
};

}  // namespace spectralcls::detail
