// Points packed for the distance tiles: grouped into segments, padded to whole vectors, centered and scaled.
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

// The register block: `tile_rows` queries meet `panel_vectors` vectors of points in registers, and
// `tile_vectors` vectors (a few panels) make a tile, whose distances stay in the first-level cache.
constexpr int tile_rows = n_vector_registers == 32 ? 8 : 4;
constexpr int panel_vectors = 3;
constexpr int tile_vectors = n_vector_registers == 32 ? 12 : 24;
// Vectors whose exponentials are computed step by step together: as many as fit the registers.
constexpr int group_vectors = n_vector_registers == 32 ? 4 : 3;
template <class T>
constexpr int tile_width = tile_vectors * lanes<T>;

// Queries are taken a chunk at a time: one thread's task, whose packed coordinates stay in the first-level cache.
constexpr index_t query_chunk_rows = 128;
static_assert(query_chunk_rows % tile_rows == 0);
// Sorting the points by locality costs about as much as 100 queries.
constexpr index_t ordering_pays_from = 1024;

// How |x - y|^2 is computed. `product`: |x|^2 + |y|^2 - 2 x.y, d operations, which cancels when both norms are
// large relative to the distance; `difference`: sum of (x - y)^2, 2 d operations, which never does.
enum class DistanceForm { product, difference };

// Where the origin and the scale of lengths are. Scaling is by a power of two, hence exact; products use centered
// points, differences the points as they came.
struct Geometry {
  std::vector<double> center;
  // A power of two about the largest centered coordinate but those of rows far away or, if that is larger, the largest
  // bandwidth.
  double scale = 1;
  double limit = 0;  // beyond it lie centered coordinates whose squared distances might overflow

  // `length_scale`: the largest that matters besides the points' spread, such as a bandwidth.
  template <class T>
  static Geometry of(MatrixView<T> points, double length_scale, const Execution& execution);
  // What stands for a centered and scaled coordinate beyond the limit: at most twice the limit. It rises with the
  // logarithm, so that coordinates far away keep their order, and different ones their distance of many scales.
  template <class T>
  double far(double offset) const;
  // A coordinate of feature k, scaled, and moved if it lies beyond the limit.
  template <class T>
  double placed(T x, index_t k) const;
  // The largest squared norm of points about the center, scaled.
  template <class T>
  double largest_norm(MatrixView<T> points, const Execution& execution) const;
};

// A coordinate about the center, scaled. The scale comes first: a difference of two numbers, or the square of one, may
// be beyond the range of numbers where what becomes of it is not.
inline double scaled_offset(double x, double center, double inverse_scale) {
  return x * inverse_scale - center * inverse_scale;
}

// Which points belong together: a label starts a new tile; points of one label and group are neighbors.
struct Grouping {
  const std::int64_t* labels = nullptr;  // 0 ... n_labels - 1, negative: left out; nullptr: one label
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
  index_t first;        // position of its first column among all packed columns (padding included)
  int n_vectors;        // 1 ... tile_vectors
  int label;            // of its points
  double largest_norm;  // of its points, squared, scaled
};

// n points as a sequence of tiles. Points of one label and group form a run of columns; a label ends with padding to
// whole vectors, at infinite distance of everything. Within a tile, panels of up to three vectors store their
// coordinates feature by feature.
template <class T>
class PackedTiles {
 public:
  // `by_locality` sorts the points of a run, so that a tile is a compact set.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, bool by_locality, const Execution& execution);
  // The same, but tiles of at most `widest` vectors that are compact in coordinates of the caller's; no boxes.
  PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
              bool with_difference, MatrixView<float> coordinates, int widest, const Execution& execution);

  bool has(DistanceForm form) const {
    return n_columns() == 0 || !(form == DistanceForm::product ? centered_ : raw_).empty();
  }
  // Adds the coordinates for differences, from the same points in the same geometry, in its last step.
  void add_differences(MatrixView<T> points, const Geometry& geometry, const Execution& execution) {
    UninitializedVector<T> raw(length(source_) * d_);
    pack(points, geometry, nullptr, raw.data(), execution);
    raw_ = std::move(raw);
  }

  index_t n_columns() const { return length(source_); }
  index_t dimension() const { return d_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  // Columns of the points of one label and group; the last group of a label includes the padding.
  Range run(int label, index_t group) const {
    const index_t run = label * n_groups_ + group;
    assert(run + 1 < length(run_starts_));
    return {run_starts_[run], run_starts_[run + 1]};
  }
  // Row of the original matrix in a packed column, -1 for padding.
  const std::vector<index_t>& source() const { return source_; }
  const T* coordinates(DistanceForm form, const Tile& tile) const {
    assert(has(form));
    return (form == DistanceForm::product ? centered_ : raw_).data() + tile.first * d_;
  }
  const T* norms(const Tile& tile) const { return norms_.data() + tile.first; }
  // Bounding box of a tile's points, scaled (raw or centered alike, up to the offset): d lows, then d highs.
  const T* box(const Tile& tile) const {
    return boxes_.empty() ? nullptr : boxes_.data() + (&tile - tiles_.data()) * 2 * d_;
  }

 private:
  template <class Order>
  void lay_out(MatrixView<T> points, const Grouping& grouping, int widest, Order&& order);
  void pack_forms(MatrixView<T> points, const Geometry& geometry, bool with_product, bool with_difference,
                  const Execution& execution);
  // Into these coordinates, nullptr for none; norms and boxes too if they are not there yet.
  void pack(MatrixView<T> points, const Geometry& geometry, T* to_centered, T* to_raw, const Execution& execution);
  void pack_tile(MatrixView<T> points, const Geometry& geometry, index_t t, T* to_centered, T* to_raw, bool first);

  index_t d_;
  index_t n_groups_;
  std::vector<index_t> source_, run_starts_;
  std::vector<Tile> tiles_;
  UninitializedVector<T> centered_, raw_, norms_, boxes_;
};

// tile_rows queries, feature by feature: [d][tile_rows], in both forms.
template <class T>
struct PackedQueries {
  AlignedVector<T> centered, raw, norms;  // centered is multiplied by -2
  std::vector<double> largest_norm;       // per block of tile_rows
  index_t n_blocks = 0, d = 0;

  // Rows [begin, end) of `queries`, in the order given by `rows` if not empty; the last block repeats its last row.
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
