// Lower bounds on the distances between blocks of queries and tiles of points, from a few coordinates in float32. Boxes
// are compared first: those of groups of tiles, then those of the tiles of near groups. Then partial squared distances
// are summed over one segment of coordinates after the other, and the sum ends early if no pair can be within reach.
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

  // Returns a squared radius in float32, enlarged to allow for the rounding.
  static float enlarged(double squared) { return static_cast<float>(squared * (1 + 1e-6) + 1e-35); }

  // Sets the squared radius of each row with a query to squared_of(row), enlarged.
  template <class SquaredOf>
  void set(index_t n_rows, SquaredOf&& squared_of) {
    farthest = 0;
    for (index_t r = 0; r < tile_rows; ++r) {
      squared[r] = r < n_rows ? enlarged(squared_of(r)) : -std::numeric_limits<float>::infinity();
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
  // A group is this many consecutive tiles, which share a box.
  static constexpr index_t tiles_a_group = 16;

  // `coordinates` holds a row of `width` coordinates for each original point. points.rows() maps packed columns to
  // these rows.
  template <class T>
  TileFilter(const PackedTiles<T>& points, const float* coordinates, index_t width, const Execution& execution)
      : TileFilter(points.tiles(), lanes<T>, points.rows(), coordinates, width, execution) {}

  index_t n_tiles() const { return n_tiles_; }

  // A block of tile_rows queries.
  class Block {
   public:
    // Sets the queries of the block: rows[0 ... n_rows - 1] of the matrix `coordinates`.
    void set(const TileFilter& filter, const float* coordinates, const index_t* rows, index_t n_rows);

    // Returns a lower bound on the squared distance to a tile.
    float bound(index_t tile) {
      measure(tile / tiles_a_group);
      return bounds_[tile];
    }
    // Returns the tile of a range with the smallest squared gap plus 1 % of the squared distance of the centers, which
    // mainly breaks ties.
    index_t nearest(index_t begin, index_t end);

    // Calls body(tile) for the tiles of a range whose bounds are at most `squared`.
    template <class Body>
    void for_each_within(const Range& tiles, float squared, Body&& body) {
      for_each_group_within(tiles, squared, [&](index_t, std::uint32_t bits, index_t first) {
        for (; bits; bits &= bits - 1) body(first + __builtin_ctz(bits));
      });
    }

    // Sets in bits[r], for each row r, the bits of the points of a tile whose squared distance may be below squared[r].
    // Returns the total number of bits set, over all rows.
    int hits(index_t tile, const float* squared, std::uint64_t* bits);

    // Calls body(tile, number of hits, bits) for the tiles of a range that may hold points within the radius. Tiles in
    // `seen`, and tiles for which whole(tile) returns true, are skipped. Both functions may shorten the radius. The
    // nearest tiles therefore come first, in order of their bounds. The boxes of the others are then compared with each
    // query by itself, which halves their number on data of many features.
    template <class Whole, class Body>
    void for_each_near(Range tiles, Range seen, const SearchRadius& search_radius, Whole&& whole, Body&& body) {
      auto look = [&] {
        constexpr index_t ahead = 2;
        for (index_t i = 0; i < length(near_); ++i) {
          if (i + ahead < length(near_)) prefetch(near_[i + ahead].second);
          const auto [bound, tile] = near_[i];
          if (bound > search_radius.farthest || whole(tile)) continue;
          std::uint64_t bits[tile_rows];
          if (const int n_hits = hits(tile, search_radius.squared, bits)) body(tile, n_hits, bits);
        }
      };
      auto add = [&](index_t t) {
        if (t < seen.begin || t >= seen.end) near_.emplace_back(bounds_[t], t);
      };
      near_.clear();
      for_each_within(tiles, search_radius.farthest, add);
      if (length(near_) <= n_first) {
        std::sort(near_.begin(), near_.end());
        return look();
      }
      std::nth_element(near_.begin(), near_.begin() + n_first, near_.end());
      const auto next = near_[n_first];
      near_.resize(n_first);
      std::sort(near_.begin(), near_.end());
      look();
      near_.clear();
      for_each_group_within(tiles, search_radius.farthest, [&](index_t group, std::uint32_t bits, index_t first) {
        for (bits &= within(group, search_radius.squared); bits; bits &= bits - 1)
          if (const index_t t = first + __builtin_ctz(bits); std::pair{bounds_[t], t} >= next) add(t);
      });
      look();
    }
    // The numbers of panel coordinates that hits() has read and of box coordinates that have been compared so far.
    index_t n_coordinates() const { return n_coordinates_; }
    index_t n_box_coordinates() const { return n_box_coordinates_; }

   private:
    // The nearest tiles, which are visited in order. On covertype, predictions take as long with 16 and 20 % longer
    // with 8.
    static constexpr index_t n_first = 32;

    // Calls body(group, bits of tiles, first tile) for the groups that hold tiles of a range whose bounds are at most
    // `squared`.
    template <class Body>
    void for_each_group_within(const Range& tiles, float squared, Body&& body) {
      for (index_t g = tiles.begin / tiles_a_group; g * tiles_a_group < tiles.end; ++g) {
        if (group_bounds_[g] > squared) continue;
        measure(g);
        const index_t first = g * tiles_a_group, last = std::min(first + tiles_a_group, tiles.end);
        std::uint32_t bits = 0;
        for (index_t t = std::max(first, tiles.begin); t < last; ++t)
          if (bounds_[t] <= squared) bits |= 1u << (t - first);
        if (bits) body(g, bits, first);
      }
    }
    void set_box(const float* coordinates, const index_t* rows, index_t n_rows);
    // Computes the bounds and centers of the tiles of a group, once for each block.
    void measure(index_t group) {
      if (measured_[group] == n_set_) return;
      measured_[group] = n_set_;
      measure_tiles(group);
    }
    void measure_tiles(index_t group);
    // Returns the bits of the tiles of a group whose boxes are within the squared radius of any query.
    std::uint32_t within(index_t group, const float* squared) const;
    // Computes the squared gap between the box of the block and W boxes. Adds 1 % of the squared distance of the
    // centers for `to_centers`. Both arrays of boxes hold coordinate k at k * stride.
    void compare(const float* centers, const float* halves, index_t stride, float* to_bounds, float* to_centers);
    // Prefetches the beginning of a tile for the next call of hits().
    void prefetch(index_t tile) const;

    const TileFilter* filter_ = nullptr;
    index_t n_coordinates_ = 0, n_box_coordinates_ = 0;
    AlignedVector<float> stream_;   // for each segment: its part of the norms, then its coordinates times -2
    AlignedVector<float> queries_;  // as [coordinate][row]
    float slack_ = 0;               // rounding of a coordinate of a query
    float center_[most_coordinates], half_[most_coordinates];  // the box of the block
    // For each group and each tile: `bounds` holds the squared gap to the box of the block; `centers` holds this gap
    // plus 1 % of the squared distance between the centers. The added term mainly breaks ties. The values of a tile are
    // valid if its group is measured.
    AlignedVector<float> group_bounds_, group_centers_, bounds_, centers_;
    std::vector<std::int32_t> measured_;  // for each group, the number of the block for which it was measured last
    std::int32_t n_set_ = 0;              // blocks so far
    std::vector<std::pair<float, index_t>> near_;  // bounds and tiles
  };

 private:
  index_t per_panel() const { return (width_ + length(ends_)) * panel_points; }
  TileFilter(const std::vector<Tile>& tiles, index_t points_a_vector, const std::vector<index_t>& rows,
             const float* coordinates, index_t width, const Execution& execution);
  void pack_tile(index_t tile, Range columns, const std::vector<index_t>& rows, const float* coordinates);
  void pack_groups();
  // Returns the position of coordinate k of a tile in center_ and half_.
  index_t at(index_t tile, index_t k) const {
    return (tile / tiles_a_group * width_ + k) * tiles_a_group + tile % tiles_a_group;
  }

  index_t width_, n_tiles_;
  index_t n_groups_, stride_;           // stride_: n_groups_, padded to whole vectors
  std::vector<index_t> ends_;           // ends of the segments
  std::vector<index_t> first_panel_;    // of each tile
  AlignedVector<float> panels_;         // of points; for each segment: its part of the norms, then its coordinates
  AlignedVector<float> center_, half_;  // boxes of tiles, as [group][coordinate][tile of the group]
  AlignedVector<float> group_center_, group_half_;  // boxes of groups, as [coordinate][group]
};

}  // namespace spectralcls::detail
