// Points in an order that lets most pairs be pruned.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "geometry/locality.hpp"
#include "geometry/points.hpp"
#include "geometry/principal_axes.hpp"
#include "geometry/tile_filter.hpp"

namespace spectralcls::detail {

// Makes tiles of few points that lie close together in principal coordinates, and the filter of these tiles.
template <class T>
class FilteredTiles {
 public:
  FilteredTiles(MatrixView<T> points, const Geometry& geometry, const Execution& execution)
      : axes_(PrincipalAxes::of(points, geometry, TileFilter::most_coordinates - 1)),
        coordinates_(axes_.coordinates(points, geometry, execution)) {}

  PackedTiles<T> pack(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
                      bool with_difference, const Execution& execution) {
    const MatrixView<float> coordinates{coordinates_.data(), points.rows, axes_.n_coordinates()};
    PackedTiles<T> packed(points, geometry, grouping, with_product, with_difference, coordinates, widest, execution);
    filter_ = std::make_unique<TileFilter>(packed, coordinates_.data(), axes_.n_coordinates(), execution);
    coordinates_ = {};
    return packed;
  }
  const TileFilter& filter() const { return *filter_; }

  // Returns the principal coordinates of the queries, row by row. Sorts `rows` within each range, so that each block of
  // queries is compact.
  AlignedVector<float> arrange(MatrixView<T> queries, const Geometry& geometry, std::vector<index_t>& rows,
                               std::vector<Range> ranges, const Execution& execution) const {
    AlignedVector<float> coordinates = axes_.coordinates(queries, geometry, execution);
    order_by_locality(MatrixView<float>{coordinates.data(), queries.rows, axes_.n_coordinates()}, rows,
                      std::move(ranges), index_t{tile_rows}, execution);
    return coordinates;
  }

 private:
  // The largest number of vectors in a tile. Tiles hold few points, in whole panels of both the filter and the sums.
  static constexpr int widest = std::min<int>(tile_vectors, TileFilter::typical_points / lanes<T>);

  PrincipalAxes axes_;
  AlignedVector<float> coordinates_;  // of the points, until they are packed
  std::unique_ptr<TileFilter> filter_;
};

}  // namespace spectralcls::detail
