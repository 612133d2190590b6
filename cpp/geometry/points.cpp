#include "geometry/points.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "geometry/locality.hpp"

namespace spectralcls {
namespace detail {

// The squared norms of several vectors that arrive in pieces. There is a sum in double for each lane. If T is double,
// Kahan summation is used, because equal terms are rounded alike and their errors add up.
template <class T, int Vectors>
class SquaredNorms {
 public:
  template <class Count>
  SPECTRALCLS_INLINE void add(int vector, const T* x, Count n) {
    for (index_t i = 0; i < n; ++i) {
      double& sum = sums_[vector][i];
      if constexpr (sizeof(T) == 4) {
        sum += static_cast<double>(x[i]) * x[i];
      } else {
        double& excess = excesses_[vector][i];
        const double term = x[i] * x[i] - excess, next = sum + term;
        excess = (next - sum) - term;
        sum = next;
      }
    }
  }
  double of(int vector) const {
    double total = 0;
    for (const double sum : sums_[vector]) total += sum;
    return total;
  }

 private:
  double sums_[Vectors][lanes<T>] = {}, excesses_[Vectors][lanes<T>] = {};
};

}  // namespace detail

namespace {

constexpr int pack_ahead = 8;  // prefetch distance in vectors of features; points may lie anywhere in memory

// Calls body(first feature, count) for lanes<T> features at a time. The count is a compile-time constant except for the
// last features, because packing spends most of its time in loops of this length.
template <class T, class Body>
SPECTRALCLS_INLINE void for_vectors_of_features(index_t d, Body&& body) {
  constexpr int W = lanes<T>;
  index_t k = 0;
  for (; k + W <= d; k += W) body(k, std::integral_constant<index_t, W>{});
  if (k < d) body(k, d - k);
}

// Places n <= lanes<T> coordinates of a point or query, from feature k on, or, with Step 0, of n points in feature k.
// `centered` receives the coordinates relative to the center, `raw` those that are not centered.
template <int Step = 1, class T, class Count>
SPECTRALCLS_INLINE void place(const T* x, const Geometry& geometry, index_t k, Count n, T* centered, T* raw) {
  const double* center = geometry.center.data() + k;
  const double inverse = 1 / geometry.scale, limit = geometry.limit;
  bool beyond = false;
  for (index_t i = 0; i < n; ++i) {
    const double scaled = x[i] * inverse;
    beyond |= std::abs(scaled) > limit;
    centered[i] = static_cast<T>(scaled - center[i * Step]);
    raw[i] = static_cast<T>(scaled);
  }
  for (index_t i = 0; beyond && i < n; ++i) {
    if (std::abs(x[i] * inverse) <= limit) continue;
    const double placed = geometry.placed(x[i], k + i * Step);
    centered[i] = static_cast<T>(placed - center[i * Step]);
    raw[i] = static_cast<T>(placed);
  }
}

// Writes lanes<T> features of as many points, one vector for each feature.
template <class T>
void store_transposed(const T (&points)[lanes<T>][lanes<T>], T* to, index_t stride) {
  constexpr int W = lanes<T>;
  Vec<T> square[W];
#pragma GCC unroll 16
  for (int j = 0; j < W; ++j) square[j] = load(points[j]);
  transpose<T>(square);
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) store(to + i * stride, square[i]);
}

}  // namespace

template <class T>
PackedTiles<T>::PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
                            bool with_difference, bool by_locality, const Execution& execution)
    : d_(points.cols), n_groups_(grouping.n_groups) {
  lay_out(points, grouping, tile_vectors, [&](std::vector<index_t>& rows, std::vector<Range> runs) {
    if (by_locality) order_by_locality(points, rows, std::move(runs), index_t{tile_width<T>}, execution);
  });
  if (by_locality) boxes_.resize(length(tiles_) * 2 * d_);
  pack_forms(points, geometry, with_product, with_difference, execution);
}

template <class T>
PackedTiles<T>::PackedTiles(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping, bool with_product,
                            bool with_difference, MatrixView<float> coordinates, int widest, const Execution& execution)
    : d_(points.cols), n_groups_(grouping.n_groups) {
  lay_out(points, grouping, widest, [&](std::vector<index_t>& rows, std::vector<Range> runs) {
    order_by_locality(coordinates, rows, std::move(runs), index_t{widest * lanes<T>}, execution);
  });
  pack_forms(points, geometry, with_product, with_difference, execution);
}

// Sorts the points by label and group with a counting sort. order(rows, runs) then sorts the rows within each run.
// Finally, each label is cut into tiles.
template <class T>
template <class Order>
void PackedTiles<T>::lay_out(MatrixView<T> points, const Grouping& grouping, int widest, Order&& order) {
  constexpr int W = lanes<T>;
  const index_t n_runs = grouping.n_runs();
  std::vector<index_t> ends(n_runs + 1, 0);  // of each run among the sorted rows; shifted by one while counting
  for (index_t i = 0; i < points.rows; ++i)
    if (const auto run = grouping.run_of(i); run >= 0) ++ends[run + 1];
  for (index_t run = 0; run < n_runs; ++run) ends[run + 1] += ends[run];
  std::vector<index_t> rows(ends[n_runs]), next(ends.begin(), ends.end() - 1);
  for (index_t i = 0; i < points.rows; ++i)
    if (const auto run = grouping.run_of(i); run >= 0) rows[next[run]++] = i;
  std::vector<Range> runs(n_runs);
  for (index_t run = 0; run < n_runs; ++run) runs[run] = {ends[run], ends[run + 1]};
  order(rows, std::move(runs));

  run_starts_.resize(n_runs + 1);
  for (int label = 0; label < grouping.n_labels; ++label) {
    const index_t first_run = label * n_groups_;
    const index_t begin = ends[first_run], size = ends[first_run + n_groups_] - begin;
    const index_t n_vectors = (size + W - 1) / W, shift = n_columns() - begin;
    for (index_t group = 0; group < n_groups_; ++group)
      run_starts_[first_run + group] = ends[first_run + group] + shift;
    // Each label has as few tiles as possible, of about equal width, because a last tile of a single vector would not
    // fill the registers.
    index_t left = n_vectors;
    for (index_t n_tiles = (n_vectors + widest - 1) / widest; n_tiles > 0; --n_tiles) {
      const index_t share = (left + n_tiles - 1) / n_tiles,
                    whole = (share + group_vectors - 1) / group_vectors * group_vectors;
      const index_t width = std::min({left, whole, index_t{widest}});
      tiles_.push_back({n_columns() + (n_vectors - left) * W, static_cast<int>(width), label, 0.0});
      left -= width;
    }
    rows_.insert(rows_.end(), rows.begin() + begin, rows.begin() + begin + size);
    rows_.insert(rows_.end(), n_vectors * W - size, index_t{-1});
  }
  run_starts_[n_runs] = n_columns();
}

template <class T>
void PackedTiles<T>::pack_forms(MatrixView<T> points, const Geometry& geometry, bool with_product, bool with_difference,
                                const Execution& execution) {
  const index_t size = length(rows_) * d_;
  if (with_product) centered_.resize(size);
  if (with_difference) raw_.resize(size);
  pack(points, geometry, with_product ? centered_.data() : nullptr, with_difference ? raw_.data() : nullptr, execution);
}

template <class T>
void PackedTiles<T>::pack(MatrixView<T> points, const Geometry& geometry, T* to_centered, T* to_raw,
                          const Execution& execution) {
  const bool first = norms_.empty();
  if (first) norms_.resize(length(rows_));
  constexpr index_t tiles_a_chunk = 8;
  const auto n_tiles = length(tiles_);
  for_each_chunk((n_tiles + tiles_a_chunk - 1) / tiles_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    for (index_t t = chunk * tiles_a_chunk; t < std::min((chunk + 1) * tiles_a_chunk, n_tiles); ++t)
      pack_tile(points, geometry, t, to_centered, to_raw, first);
  });
}

// Packs tile t. Norms and box are computed only the first time (`first`).
template <class T>
void PackedTiles<T>::pack_tile(MatrixView<T> points, const Geometry& geometry, index_t t, T* to_centered, T* to_raw,
                               bool first) {
  constexpr int W = lanes<T>;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Tile& tile = tiles_[t];
  T* box = first && !boxes_.empty() ? boxes_.data() + t * 2 * d_ : nullptr;
  if (box) {
    std::fill(box, box + d_, infinity);
    std::fill(box + d_, box + 2 * d_, -infinity);
  }
  for (int v = 0; v < tile.n_vectors; ++v) {
    const int panel = v / panel_vectors * panel_vectors;
    const index_t stride = std::min(panel_vectors, tile.n_vectors - panel) * W;
    const index_t column = tile.first + v * W, start = (tile.first + panel * W) * d_ + (v - panel) * W;
    const T* from[W];
    int n_points = 0;  // before the padding
    for (; n_points < W && rows_[column + n_points] >= 0; ++n_points)
      from[n_points] = points.row(rows_[column + n_points]);
    auto extend = [&](index_t k, T x) {
      box[k] = std::min(box[k], x);
      box[d_ + k] = std::max(box[d_ + k], x);
    };

    // The norms are computed from the rounded coordinates. The product form then gives the squared distance between
    // the points as stored.
    double norm[W] = {};
    index_t k = 0;
    detail::SquaredNorms<T, W> norms;
    for (; k + W <= d_; k += W) {
      alignas(64) T centered[W][W], raw[W][W];  // not cleared: that would take longer than the rest of the loop
      for (int j = 0; j < W; ++j) {
        if (j >= n_points) {
          std::fill_n(centered[j], W, T(0));
          std::fill_n(raw[j], W, infinity);
          continue;
        }
        __builtin_prefetch(from[j] + k + pack_ahead * W);
        place(from[j] + k, geometry, k, std::integral_constant<index_t, W>{}, centered[j], raw[j]);
        norms.add(j, centered[j], std::integral_constant<index_t, W>{});
        for (index_t i = 0; box && i < W; ++i) extend(k + i, centered[j][i]);
      }
      if (to_centered) store_transposed<T>(centered, to_centered + start + k * stride, stride);
      if (to_raw) store_transposed<T>(raw, to_raw + start + k * stride, stride);
    }
    for (int j = 0; k > 0 && j < n_points; ++j) norm[j] = norms.of(j);
    for (; k < d_; ++k) {  // too few features for transposed squares
      alignas(64) T x[W] = {}, centered[W], raw[W];
      for (int j = 0; j < n_points; ++j) x[j] = from[j][k];
      place<0>(x, geometry, k, std::integral_constant<index_t, W>{}, centered, raw);
      std::fill(centered + n_points, centered + W, T(0));
      std::fill(raw + n_points, raw + W, infinity);
      for (int j = 0; j < W; ++j) norm[j] += static_cast<double>(centered[j]) * centered[j];
      for (int j = 0; box && j < n_points; ++j) extend(k, centered[j]);
      if (to_centered) store(to_centered + start + k * stride, load(centered));
      if (to_raw) store(to_raw + start + k * stride, load(raw));
    }
    for (int j = 0; first && j < W; ++j) {
      norms_[column + j] = j < n_points ? static_cast<T>(norm[j]) : infinity;
      tile.largest_norm = std::max(tile.largest_norm, norm[j]);
    }
  }
}

template class PackedTiles<float>;
template class PackedTiles<double>;

template <class T>
void PackedQueries<T>::pack(MatrixView<T> queries, const index_t* rows, index_t n_rows, const Geometry& geometry) {
  constexpr int W = lanes<T>;
  d = queries.cols;
  n_blocks = (n_rows + tile_rows - 1) / tile_rows;
  const auto size = n_blocks * tile_rows;
  centered.resize(size * d);
  raw.resize(size * d);
  norms.resize(size);
  largest_norm.assign(n_blocks, 0.0);
  for (index_t b = 0; b < n_blocks; ++b) {
    detail::SquaredNorms<T, tile_rows> squared;
    for_vectors_of_features<T>(d, [&](index_t k, auto n) {
      for (int r = 0; r < tile_rows; ++r) {
        const T* query = queries.row(rows[std::min(b * tile_rows + r, n_rows - 1)]);
        T x[W] = {}, y[W] = {};
        place(query + k, geometry, k, n, x, y);
        squared.add(r, x, n);
        T *to_centered = centered.data() + (b * d + k) * tile_rows + r,
          *to_raw = raw.data() + (b * d + k) * tile_rows + r;
        for (index_t i = 0; i < n; ++i) {
          to_centered[i * tile_rows] = -2 * x[i];
          to_raw[i * tile_rows] = y[i];
        }
      }
    });
    for (int r = 0; r < tile_rows; ++r) {
      const double norm = squared.of(r);
      norms[b * tile_rows + r] = static_cast<T>(norm);
      largest_norm[b] = std::max(largest_norm[b], norm);
    }
  }
}

template struct PackedQueries<float>;
template struct PackedQueries<double>;

}  // namespace spectralcls
