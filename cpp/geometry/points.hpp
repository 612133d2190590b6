// Points packed for the distance tiles: grouped, padded to whole vectors, centered and scaled.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/geometry.hpp"
#include "infrastructure/matrix.hpp"
#include "infrastructure/memory.hpp"
#include "infrastructure/parallel.hpp"
#include "infrastructure/simd.hpp"

namespace spectralcls {

// The register block. Distances between `tile_rows` queries and `panel_vectors` vectors of points (a panel) are summed
// in registers. The sums, the panel and a query fill 28 of 32 registers, or 16 of 16. A tile consists of a few panels,
// `tile_vectors` vectors in all. Its distances (at most 6 KiB) stay in the first-level cache.
constexpr int tile_rows = n_vector_registers == 32 ? 8 : 4;
constexpr int panel_vectors = 3;
constexpr int tile_vectors = n_vector_registers == 32 ? 12 : 24;
// The number of vectors whose exponentials are computed together, step by step. More would not fit into the registers.
constexpr int group_vectors = n_vector_registers == 32 ? 4 : 3;
template <class T>
constexpr int tile_width = tile_vectors * lanes<T>;

// One thread's task is a chunk of queries, whose packed coordinates stay in the first-level cache.
constexpr index_t query_chunk_rows = 128;
static_assert(query_chunk_rows % tile_rows == 0);
// Points are sorted by locality for at least this many queries. Sorting costs about as much as 100 queries.
constexpr index_t ordering_pays_from = 1024;

// How the squared distance of two points x and y with d features is computed. `product` is |x|^2 + |y|^2 - 2 x.y, which
// takes d operations, but loses digits to cancellation if both norms are large relative to the distance. `difference`
// is the sum of the squared differences of the coordinates, which takes 2 d operations and loses no digits.
enum class DistanceForm { product, difference };

// The labels and groups of the points. The points of one label and group are packed next to each other, and each label
// starts a new tile.
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

// Points packed into a sequence of tiles, each point in one column. The points of one label and group form a run of
// columns. Each label ends with padding to whole vectors, at infinite distance from every point. Within a tile, panels
// of up to three vectors store their coordinates feature by feature.
template <class T>
class PackedTiles {
 public:
  // With `by_locality`, the points of a run are sorted: the points of a tile then lie close together, and each tile has
  // a box.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, bool by_locality, const Execution& execution);
  // Packs the points into tiles of at most `widest` vectors. The points of a tile lie close together in the given
  // coordinates. The tiles have no boxes.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, MatrixView<float> coordinates, int widest, const Execution& execution);

  bool has(DistanceForm form) const {
    return n_columns() == 0 || !(form == DistanceForm::product ? centered_ : raw_).empty();
  }
  // Adds the coordinates for the difference form. Points and geometry must be those of the constructor. The call has no
  // effect before its last step.
  void add_differences(MatrixView<T> points, const Geometry& geometry, const Execution& execution) {
    UninitializedVector<T> raw(length(rows_) * d_);
    pack(points, geometry, nullptr, raw.data(), execution);
    raw_ = std::move(raw);
  }

  index_t n_columns() const { return length(rows_); }
  index_t dimension() const { return d_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  // Returns the packed columns of the points of one label and group. The last group of a label includes the padding.
  Range run(int label, index_t group) const {
    const index_t run = label * n_groups_ + group;
    assert(run + 1 < length(run_starts_));
    return {run_starts_[run], run_starts_[run + 1]};
  }
  // Row of the original matrix for each packed column, -1 for padding.
  const std::vector<index_t>& rows() const { return rows_; }
  const T* coordinates(DistanceForm form, const Tile& tile) const {
    assert(has(form));
    return (form == DistanceForm::product ? centered_ : raw_).data() + tile.first * d_;
  }
  const T* norms(const Tile& tile) const { return norms_.data() + tile.first; }
  // Bounding box of the points of a tile, centered and scaled: d lows, then d highs for d features. nullptr without
  // boxes.
  const T* box(const Tile& tile) const {
    return boxes_.empty() ? nullptr : boxes_.data() + (&tile - tiles_.data()) * 2 * d_;
  }

 private:
  template <class Order>
  void lay_out(MatrixView<T> points, const Grouping& grouping, int widest, Order&& order);
  void pack_forms(MatrixView<T> points, const Geometry& geometry, bool with_product, bool with_difference,
                  const Execution& execution);
  // Fills the outputs that are not nullptr. The first call also fills the norms and the boxes.
  void pack(MatrixView<T> points, const Geometry& geometry, T* to_centered, T* to_raw, const Execution& execution);
  void pack_tile(MatrixView<T> points, const Geometry& geometry, index_t t, T* to_centered, T* to_raw, bool first);

  index_t d_;
  index_t n_groups_;
  std::vector<index_t> rows_, run_starts_;
  std::vector<Tile> tiles_;
  UninitializedVector<T> centered_, raw_, norms_, boxes_;
};

// Blocks of tile_rows queries, each stored as [d][tile_rows], for both forms of the distance.
template <class T>
struct PackedQueries {
  AlignedVector<T> centered, raw, norms;  // centered is multiplied by -2
  std::vector<double> largest_norm;       // for each block of tile_rows
  index_t n_blocks = 0, d = 0;

  // Packs the n_rows queries that `rows` lists. The last query is repeated to fill the last block.
  void pack(MatrixView<T> queries, const index_t* rows, index_t n_rows, const Geometry& geometry);
  const T* block(DistanceForm form, index_t b) const {
    assert(0 <= b && b < n_blocks);
    return (form == DistanceForm::product ? centered : raw).data() + b * d * tile_rows;
  }
  const T* block_norms(index_t b) const { return norms.data() + b * tile_rows; }
};

}  // namespace spectralcls
