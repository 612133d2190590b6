// Points packed for the distance tiles: grouped, padded to whole vectors, centered and scaled.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "infrastructure/parallel.hpp"
#include "infrastructure/simd.hpp"

namespace spectralcls {

// The register block. Distances between `tile_rows` queries and `panel_vectors` vectors of points (a panel) are summed
// in registers. The sums, the panel and a query fill 28 of 32 registers, or 16 of 16. A few panels, `tile_vectors`
// vectors, make a tile. Its distances (at most 6 KiB) stay in the first-level cache.
constexpr int tile_rows = n_vector_registers == 32 ? 8 : 4;
constexpr int panel_vectors = 3;
constexpr int tile_vectors = n_vector_registers == 32 ? 12 : 24;
// Number of vectors whose exponentials are computed together, step by step. More do not fit the registers.
constexpr int group_vectors = n_vector_registers == 32 ? 4 : 3;
template <class T>
constexpr int tile_width = tile_vectors * lanes<T>;

// One thread's task is a chunk of queries, whose packed coordinates stay in the first-level cache.
constexpr index_t query_chunk_rows = 128;
static_assert(query_chunk_rows % tile_rows == 0);
// Sorting the points by locality costs about as much as 100 queries.
constexpr index_t ordering_pays_from = 1024;

// How |x - y|^2 is computed. `product` is |x|^2 + |y|^2 - 2 x.y. It takes d operations, but loses digits to
// cancellation if both norms are large relative to the distance. `difference` is the sum of (x - y)^2. It takes 2 d
// operations and loses none.
enum class DistanceForm { product, difference };

// The origin and the scale. The scale is a power of two, so scaling is exact. Products use centered points,
// differences use points without an offset.
struct Geometry {
  std::vector<double> center;
  // A power of two near the largest centered coordinate (without far rows) or, if that is larger, the largest
  // bandwidth.
  double scale = 1;
  double limit = 0;  // beyond it, squared distances of scaled coordinates might overflow

  // `length_scale` is the largest relevant length apart from the spread of the points, such as a bandwidth.
  template <class T>
  static Geometry of(MatrixView<T> points, double length_scale, const Execution& execution);
  // Replaces a centered and scaled coordinate beyond the limit by a value of at most twice the limit. The value grows
  // with the logarithm of the coordinate, so that far coordinates keep their order and stay many scales apart if they
  // differ.
  template <class T>
  double far(double offset) const;
  // Returns a coordinate of feature k, centered and scaled, and replaced by far() if it lies beyond the limit.
  template <class T>
  double placed(T x, index_t k) const;
  // Returns the largest squared norm of the points about the center, scaled.
  template <class T>
  double largest_norm(MatrixView<T> points, const Execution& execution) const;
};

// Returns a coordinate about the center, scaled. The scale is applied first: a difference of two numbers, or its
// square, may overflow although the scaled result does not.
inline double scaled_offset(double x, double center, double inverse_scale) {
  return x * inverse_scale - center * inverse_scale;
}

// The labels and groups of the points. A label starts a new tile. Points of one label and group are adjacent.
struct Grouping {
  const std::int64_t* labels = nullptr;  // 0 ... n_labels - 1, or negative if left out; nullptr: one label
  int n_labels = 1;
  const std::int64_t* groups = nullptr;  // 0 ... n_groups - 1; nullptr: one group
  int n_groups = 1;

  index_t n_runs() const { return n_labels * n_groups; }
  index_t run_of(index_t point) const {
    const std::int64_t label = labels ? labels[point] : 0;
    return label < 0 ? -1 : static_cast<index_t>(label) * n_groups + (groups ? groups[point] : 0);
  }
};

struct Tile {
  index_t first;        // position of the first column among all packed columns, padding included
  int n_vectors;        // 1 ... tile_vectors
  int label;            // label of the points
  double largest_norm;  // largest squared norm of the points, scaled
};

// n points as a sequence of tiles. Points of one label and group form a run of columns. Each label ends with padding to
// whole vectors, at infinite distance from everything. Within a tile, panels of up to three vectors store their
// coordinates feature by feature.
template <class T>
class PackedTiles {
 public:
  // With `by_locality`, the points of a run are sorted so that each tile is a compact set.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, bool by_locality, const Execution& execution);
  // Packs the points into tiles of at most `widest` vectors that are compact in the given coordinates. There are no
  // boxes.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, MatrixView<float> coordinates, int widest, const Execution& execution);

  bool has(DistanceForm form) const {
    return n_columns() == 0 || !(form == DistanceForm::product ? centered_ : raw_).empty();
  }
  // Adds the coordinates for differences. Points and geometry must be the same as before. The call has no effect before
  // its last step.
  void add_differences(MatrixView<T> points, const Geometry& geometry, const Execution& execution) {
    UninitializedVector<T> raw(length(source_) * d_);
    pack(points, geometry, nullptr, raw.data(), execution);
    raw_ = std::move(raw);
  }

  index_t n_columns() const { return length(source_); }
  index_t dimension() const { return d_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  // Returns the packed columns of the points of one label and group. The last group of a label includes the padding.
  Range run(int label, index_t group) const {
    const index_t run = label * n_groups_ + group;
    assert(run + 1 < length(run_starts_));
    return {run_starts_[run], run_starts_[run + 1]};
  }
  // Row of the original matrix for each packed column, -1 for padding.
  const std::vector<index_t>& source() const { return source_; }
  const T* coordinates(DistanceForm form, const Tile& tile) const {
    assert(has(form));
    return (form == DistanceForm::product ? centered_ : raw_).data() + tile.first * d_;
  }
  const T* norms(const Tile& tile) const { return norms_.data() + tile.first; }
  // Bounding box of the points of a tile, scaled: d lows, then d highs, about the center.
  const T* box(const Tile& tile) const {
    return boxes_.empty() ? nullptr : boxes_.data() + (&tile - tiles_.data()) * 2 * d_;
  }

 private:
  template <class Order>
  void lay_out(MatrixView<T> points, const Grouping& grouping, int widest, Order&& order);
  void pack_forms(MatrixView<T> points, const Geometry& geometry, bool with_product, bool with_difference,
                  const Execution& execution);
  // Fills the coordinates that are not nullptr, and norms and boxes if they are still empty.
  void pack(MatrixView<T> points, const Geometry& geometry, T* to_centered, T* to_raw, const Execution& execution);
  void pack_tile(MatrixView<T> points, const Geometry& geometry, index_t t, T* to_centered, T* to_raw, bool first);

  index_t d_;
  index_t n_groups_;
  std::vector<index_t> source_, run_starts_;
  std::vector<Tile> tiles_;
  UninitializedVector<T> centered_, raw_, norms_, boxes_;
};

// Blocks of tile_rows queries, each stored as [d][tile_rows], for both forms of the distance.
template <class T>
struct PackedQueries {
  AlignedVector<T> centered, raw, norms;  // centered is multiplied by -2
  std::vector<double> largest_norm;       // for each block of tile_rows
  index_t n_blocks = 0, d = 0;

  // Packs the n_rows rows of `queries` that `rows` lists. The last block repeats its last row.
  void pack(MatrixView<T> queries, const index_t* rows, index_t n_rows, const Geometry& geometry);
  const T* block(DistanceForm form, index_t b) const {
    assert(0 <= b && b < n_blocks);
    return (form == DistanceForm::product ? centered : raw).data() + b * d * tile_rows;
  }
  const T* block_norms(index_t b) const { return norms.data() + b * tile_rows; }
};

extern template class PackedTiles<float>;
extern template class PackedTiles<double>;

}  // namespace spectralcls
