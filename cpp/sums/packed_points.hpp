// Points packed for kernel sums, in one order.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/exact_distance.hpp"
#include "geometry/filtered_tiles.hpp"
#include "geometry/points.hpp"
#include "infrastructure/once.hpp"
#include "sums/column_sums.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/near_pairs.hpp"

namespace spectralcls {
namespace detail {

constexpr index_t boxes_pay_to = 8;  // in features; with more, boxes of neighboring tiles overlap

// Weights in the order of the packed points. Each tile has one set of weights, or one for each bandwidth.
template <class T>
class PackedWeights {
 public:
  PackedWeights(const T* weights, index_t n_sets, index_t n_columns, const PackedTiles<T>& points)
      : given_(weights), n_sets_(n_sets), layout_(n_columns) {
    if (!weights) return;
    const index_t per_point = layout_.weights_per_point();
    values_.assign(points.n_columns() * n_sets * per_point, T(0));  // padding has weight zero
    for (const Tile& tile : points.tiles()) {
      const index_t width = tile.n_vectors * lanes<T>;
      for (index_t j = 0; j < width; ++j) {
        const index_t point = points.rows()[tile.first + j];
        if (point < 0) continue;
        for (index_t set = 0; set < n_sets; ++set)
          layout_.pack(weights + (point * n_sets + set) * n_columns, j, width,
                       values_.data() + (tile.first * n_sets + set * width) * per_point);
      }
    }
  }

  // Gathers the weights of the packed columns column_of(0) ... column_of(width - 1), in the same layout. A column of -1
  // gets weight zero.
  template <class ColumnOf>
  void gather(const PackedTiles<T>& points, index_t width, ColumnOf&& column_of, AlignedVector<T>& to) const {
    if (!given_) return;
    const index_t per_point = layout_.weights_per_point(), n_columns = layout_.n_columns();
    to.assign(width * n_sets_ * per_point, T(0));
    for (index_t j = 0; j < width; ++j) {
      const index_t column = column_of(j), point = column < 0 ? -1 : points.rows()[column];
      if (point < 0) continue;
      for (index_t set = 0; set < n_sets_; ++set)
        layout_.pack(given_ + (point * n_sets_ + set) * n_columns, j, width, to.data() + set * width * per_point);
    }
  }
  const T* of_gathered(const AlignedVector<T>& gathered, index_t width, index_t bandwidth) const {
    return given_ ? gathered.data() + (n_sets_ > 1 ? bandwidth : 0) * width * layout_.weights_per_point() : nullptr;
  }

  const T* given() const { return given_; }
  // Returns whether each point has at most one weight. Those of adjacent tiles are then adjacent.
  bool one_for_a_point() const { return !given_ || n_sets_ * layout_.weights_per_point() == 1; }
  const ColumnLayout<T>& layout() const { return layout_; }
  // Returns the weights of the points of a tile for a bandwidth; nullptr: ones.
  const T* of(const Tile& tile, index_t bandwidth) const {
    if (!given_) return nullptr;
    const index_t set = n_sets_ > 1 ? bandwidth : 0, width = tile.n_vectors * lanes<T>;
    return values_.data() + (tile.first * n_sets_ + set * width) * layout_.weights_per_point();
  }

 private:
  const T* given_;
  index_t n_sets_;
  ColumnLayout<T> layout_;
  AlignedVector<T> values_;
};

}  // namespace detail

// The packed points and their optional parts. The first call that needs an optional part adds it. Calls may come from
// several threads.
template <class T>
class PackedPoints {
 public:
  PackedPoints(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
               bool by_locality, const Execution& execution)
      : points_(points),
        geometry_(geometry),
        tiles_(points, geometry_, grouping, with_product, !with_product, by_locality, execution),
        differences_(!with_product) {
    find_largest_norm();
  }
  // Packs the points in an order in which pairs can be pruned.
  PackedPoints(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
               const Execution& execution)
      : points_(points),
        geometry_(geometry),
        filtered_(std::make_unique<detail::FilteredTiles<T>>(points, geometry, execution)),
        tiles_(filtered_->pack(points, geometry, grouping, with_product, !with_product, execution)),
        point_rows_(std::make_unique<detail::PointRows<T>>(points, tiles_.rows(), geometry, execution)),
        differences_(!with_product) {
    find_largest_norm();
  }

  const detail::FilteredTiles<T>* filtered() const { return filtered_.get(); }
  const detail::PointRows<T>& point_rows() const { return *point_rows_; }  // only if filtered

  const Geometry& geometry() const { return geometry_; }
  const PackedTiles<T>& tiles() const { return tiles_; }
  bool by_locality() const { return !tiles_.tiles().empty() && tiles_.box(tiles_.tiles().front()); }

  // Returns the largest squared norm of the queries about the center, scaled.
  double largest_norm(MatrixView<T> queries, const Execution& execution) const {
    const bool same = queries.data == points_.data && queries.rows == points_.rows;
    return same ? largest_norm_ : geometry_.largest_norm(queries, execution);
  }
  // Returns the same for the points.
  double largest_norm() const { return largest_norm_; }

  // Returns the tiles. Adds the coordinates for the difference form first if they are missing.
  const PackedTiles<T>& with_differences(const Execution& execution = {}) const {
    differences_([&] {
      const KeepSubnormals guard;
      tiles_.add_differences(points_, geometry_, execution);
    });
    return tiles_;
  }

  // Returns the scaled squared distance between a query and the point in a packed column.
  T squared_distance(const T* query, index_t column) const {
    const T* point = points_.row(tiles_.rows()[column]);
    const double squared = detail::squared_distance(query, point, points_.cols, 1 / geometry_.scale);
    return static_cast<T>(
        std::min(squared, 16 * geometry_.limit * geometry_.limit * static_cast<double>(points_.cols)));
  }

  // Returns the packed column of each point, -1 if its label leaves it out.
  const std::vector<index_t>& positions() const {
    have_positions_([&] {
      std::vector<index_t> positions(points_.rows, index_t{-1});
      for (index_t column = 0; column < tiles_.n_columns(); ++column) {
        const index_t row = tiles_.rows()[column];
        if (row >= 0) positions[row] = column;
      }
      positions_ = std::move(positions);
    });
    return positions_;
  }

  void keep_weights(const T* weights, index_t n_columns) {
    weights_ = std::make_unique<detail::PackedWeights<T>>(weights, 1, n_columns, tiles_);
  }
  const detail::PackedWeights<T>* weights() const { return weights_.get(); }

 private:
  void find_largest_norm() {
    for (const Tile& tile : tiles_.tiles()) largest_norm_ = std::max(largest_norm_, tile.largest_norm);
  }

  MatrixView<T> points_;
  Geometry geometry_;
  std::unique_ptr<detail::FilteredTiles<T>> filtered_;
  mutable PackedTiles<T> tiles_;
  std::unique_ptr<detail::PointRows<T>> point_rows_;
  double largest_norm_ = 0;  // of the points about the center, squared and scaled
  std::unique_ptr<detail::PackedWeights<T>> weights_;
  mutable Once differences_, have_positions_;
  mutable std::vector<index_t> positions_;
};

}  // namespace spectralcls
