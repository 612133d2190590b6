// Lower bounds of the distances between blocks of queries and tiles of points, from a few coordinates in float32: boxes
// first, then partial distances that grow by segments of coordinates until they show that no pair is within reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/points.hpp"

namespace spectralcls::detail {

// How far each query of a block sees: squared distances, none for a row without a query.
struct ViewRadius {
  alignas(64) float squared[tile_rows];
  float farthest = 0;

  // squared_of(row) for the rows that have a query. What float32 rounds away is added.
  template <class SquaredOf>
  void set(index_t n_rows, SquaredOf&& squared_of) {
    farthest = 0;
    for (index_t r = 0; r < tile_rows; ++r) {
      squared[r] =
          r < n_rows ? static_cast<float>(squared_of(r) * (1 + 1e-6) + 1e-35) : -std::numeric_limits<float>::infinity();
      farthest = std::max(farthest, squared[r]);
    }
  }
};

class TileFilter {
 public:
  // Segments of coordinates end here, or with the last coordinate.
  static constexpr index_t segment_ends[] = {8, 16, 32};
  static constexpr index_t most_coordinates = 32;
  static constexpr index_t panel_points = panel_vectors * lanes<float>;
  static constexpr index_t most_points = 64, typical_points = 48;  // of a tile

  // For packed points: coordinates (rows of `width`) of the points behind their columns, -1 for padding.
  template <class T>
  TileFilter(const PackedTiles<T>& points, const float* coordinates, index_t width, const Execution& execution)
      : TileFilter(points.tiles(), lanes<T>, points.source(), coordinates, width, execution) {}

  index_t n_tiles() const { return n_tiles_; }
  index_t n_coordinates() const { return width_; }

  // A block of tile_rows queries.
  class Block {
   public:
    // Coordinates of the rows rows[0 ... n_rows - 1] of a matrix.
    void set(const TileFilter& filter, const float* coordinates, const index_t* rows, index_t n_rows);

    // Lower bounds of the squared distances to the tiles, and the tile in a range whose center is nearest.
    const float* bounds() const { return bounds_.data(); }
    index_t nearest(index_t begin, index_t end) const;

    // Which points of a tile may be nearer to a row r than the root of squared[r], a bit each; how many in all rows.
    int hits(index_t tile, const float* squared, std::uint64_t* bits);

    // Calls body(tile, how many, bits) for the tiles of a range, but those in `seen`, that may hold points in sight,
    // and those that whole(tile) has dealt with. Both may shorten the sight, so some of the nearest come first.
    template <class Whole, class Body>
    void for_each_near(Range tiles, Range seen, const ViewRadius& sight, Whole&& whole, Body&& body) {
      near_.clear();
      for (index_t t = tiles.begin; t < tiles.end; ++t)
        if (bounds_[t] <= sight.farthest && (t < seen.begin || t >= seen.end)) near_.emplace_back(bounds_[t], t);
      const auto first = near_.begin() + std::min<index_t>(n_first, length(near_));
      if (first != near_.end()) std::nth_element(near_.begin(), first, near_.end());
      std::sort(near_.begin(), first);
      for (index_t i = 0; i < length(near_); ++i) {
        if (i + 1 < length(near_)) prefetch(near_[i + 1].second);
        if (near_[i].first > sight.farthest || whole(near_[i].second)) continue;
        std::uint64_t bits[tile_rows];
        const int n_hits = hits(near_[i].second, sight.squared, bits);
        if (n_hits > 0) body(near_[i].second, n_hits, bits);
      }
    }
    // Coordinates of panels that hits() has looked at so far.
    index_t n_coordinates() const { return n_coordinates_; }

   private:
    static constexpr index_t n_first = 32;
    void set_box(const float* coordinates, const index_t* rows, index_t n_rows);
    // Brings the beginning of a tile near, which hits() is to see soon.
    void prefetch(index_t tile) const;

    const TileFilter* filter_ = nullptr;
    index_t n_coordinates_ = 0;
    AlignedVector<float> stream_;                  // a segment: its part of the norms, then its coordinates times -2
    AlignedVector<float> bounds_;                  // of every tile: squared gap between the boxes
    AlignedVector<float> centers_;                 // and squared distance of the centers
    std::vector<std::pair<float, index_t>> near_;  // tiles and their bounds
  };

 private:
  index_t per_panel() const { return (width_ + length(ends_)) * panel_points; }
  TileFilter(const std::vector<Tile>& tiles, index_t points_a_vector, const std::vector<index_t>& source,
             const float* coordinates, index_t width, const Execution& execution);
  void pack_tile(index_t tile, Range columns, const std::vector<index_t>& source, const float* coordinates);

  index_t width_, n_tiles_, stride_;    // stride_: of the boxes, n_tiles_ padded
  std::vector<index_t> ends_;           // of segments
  std::vector<index_t> first_panel_;    // of each tile
  AlignedVector<float> panels_;         // of points: a segment's part of the norms, then its coordinates
  AlignedVector<float> center_, half_;  // boxes: [coordinate][tile]
};

}  // namespace spectralcls::detail
