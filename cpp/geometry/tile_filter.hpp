// Lower bounds on the distances between blocks of queries and tiles of points, from a few coordinates in float32. Boxes
// are compared first. Then partial squared distances are summed over one segment of coordinates after the other, and
// the sum ends early if no pair can be within reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/points.hpp"

namespace spectralcls::detail {

// The squared search radius of each query of a block. The value of a row without a query is -infinity, so the row finds
// no point.
struct SearchRadius {
  alignas(64) float squared[tile_rows];
  float farthest = 0;

  // Sets the squared radius of each row with a query to squared_of(row), enlarged to allow for the rounding of float32.
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
  // Segments of coordinates end here, or at the last coordinate.
  static constexpr index_t segment_ends[] = {8, 16, 32};
  static constexpr index_t most_coordinates = 32;
  static constexpr index_t panel_points = panel_vectors * lanes<float>;
  static constexpr index_t most_points = 64, typical_points = 48;  // in a tile

  // `coordinates` holds a row of `width` coordinates for each original point. points.rows() maps packed columns to
  // these rows.
  template <class T>
  TileFilter(const PackedTiles<T>& points, const float* coordinates, index_t width, const Execution& execution)
      : TileFilter(points.tiles(), lanes<T>, points.rows(), coordinates, width, execution) {}

  index_t n_tiles() const { return n_tiles_; }
  index_t n_coordinates() const { return width_; }

  // A block of tile_rows queries.
  class Block {
   public:
    // Sets the queries of the block: rows[0 ... n_rows - 1] of the matrix `coordinates`.
    void set(const TileFilter& filter, const float* coordinates, const index_t* rows, index_t n_rows);

    // Returns lower bounds on the squared distances to all tiles.
    const float* bounds() const { return bounds_.data(); }
    // Returns the tile of a range with the smallest squared gap plus 1 % of the squared distance of the centers, which
    // mainly breaks ties.
    index_t nearest(index_t begin, index_t end) const;

    // Sets in bits[r], for each row r, the bits of the points of a tile whose squared distance may be below squared[r].
    // Returns the number of bits set in all rows.
    int hits(index_t tile, const float* squared, std::uint64_t* bits);

    // Calls body(tile, number of hits, bits) for the tiles of a range that may hold points within the radius. Tiles in
    // `seen`, and tiles for which whole(tile) returns true, are skipped. Both functions may shorten the radius. The
    // nearest 32 tiles therefore come first, in order of their bounds.
    template <class Whole, class Body>
    void for_each_near(Range tiles, Range seen, const SearchRadius& search_radius, Whole&& whole, Body&& body) {
      near_.clear();
      for (index_t t = tiles.begin; t < tiles.end; ++t)
        if (bounds_[t] <= search_radius.farthest && (t < seen.begin || t >= seen.end))
          near_.emplace_back(bounds_[t], t);
      const auto first = near_.begin() + std::min<index_t>(n_first, length(near_));
      if (first != near_.end()) std::nth_element(near_.begin(), first, near_.end());
      std::sort(near_.begin(), first);
      for (index_t i = 0; i < length(near_); ++i) {
        if (i + 1 < length(near_)) prefetch(near_[i + 1].second);
        if (near_[i].first > search_radius.farthest || whole(near_[i].second)) continue;
        std::uint64_t bits[tile_rows];
        const int n_hits = hits(near_[i].second, search_radius.squared, bits);
        if (n_hits > 0) body(near_[i].second, n_hits, bits);
      }
    }
    // The number of panel coordinates that hits() has read so far.
    index_t n_coordinates() const { return n_coordinates_; }

   private:
    static constexpr index_t n_first = 32;  // nearest tiles, which are visited in order
    void set_box(const float* coordinates, const index_t* rows, index_t n_rows);
    // Prefetches the beginning of a tile for the next call of hits().
    void prefetch(index_t tile) const;

    const TileFilter* filter_ = nullptr;
    index_t n_coordinates_ = 0;
    AlignedVector<float> stream_;  // for each segment: its part of the norms, then its coordinates times -2
    AlignedVector<float> bounds_;  // squared gap between the boxes of the block and of each tile
    // The squared gap plus 1 % of the squared distance of the centers, which mainly breaks ties.
    AlignedVector<float> centers_;
    std::vector<std::pair<float, index_t>> near_;  // bounds and tiles
  };

 private:
  index_t per_panel() const { return (width_ + length(ends_)) * panel_points; }
  TileFilter(const std::vector<Tile>& tiles, index_t points_a_vector, const std::vector<index_t>& rows,
             const float* coordinates, index_t width, const Execution& execution);
  void pack_tile(index_t tile, Range columns, const std::vector<index_t>& rows, const float* coordinates);

  index_t width_, n_tiles_, stride_;    // stride_: n_tiles_, padded to whole vectors
  std::vector<index_t> ends_;           // ends of the segments
  std::vector<index_t> first_panel_;    // of each tile
  AlignedVector<float> panels_;         // of points; for each segment: its part of the norms, then its coordinates
  AlignedVector<float> center_, half_;  // boxes as [coordinate][tile]
};

}  // namespace spectralcls::detail
