#include "spectralcls/points.hpp"

#include <algorithm>
#include <cmath>

#include "spectralcls/locality.hpp"

namespace spectralcls {
namespace {

constexpr index_t geometry_rows = 4096;  // a chunk of rows whose sums are added on their own
constexpr index_t tile_step = 4;         // vectors whose exponentials are computed together

double power_of_two_at_least(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);  // x = mantissa 2^exponent, mantissa in [1/2, 1)
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

template <class T>
Geometry Geometry::of(MatrixView<T> points, double smallest_bandwidth, const Execution& execution) {
  const index_t d = points.cols, n_chunks = (points.rows + geometry_rows - 1) / geometry_rows;
  // body(chunk, row) for every row, chunks in parallel.
  auto for_each_row = [&](auto&& body) {
    for_each_chunk(n_chunks, execution, [&](index_t chunk, Checkpoint&) {
      const index_t last = std::min((chunk + 1) * geometry_rows, points.rows);
      for (index_t i = chunk * geometry_rows; i < last; ++i) body(chunk, points.row(i));
    });
  };

  Geometry geometry;
  geometry.centre.assign(static_cast<std::size_t>(d), 0.0);
  std::vector<double> sums(static_cast<std::size_t>(n_chunks * d)), radii(static_cast<std::size_t>(n_chunks));
  const double share = 1 / static_cast<double>(points.rows);
  for_each_row([&](index_t chunk, const T* x) {
    double* sum = sums.data() + chunk * d;
    for (index_t k = 0; k < d; ++k) sum[k] += x[k] * share;
  });
  for (index_t chunk = 0; chunk < n_chunks; ++chunk)
    for (index_t k = 0; k < d; ++k) geometry.centre[k] += sums[chunk * d + k];

  for_each_row([&](index_t chunk, const T* x) {
    double& radius = radii[chunk];
    for (index_t k = 0; k < d; ++k) radius = std::max(radius, std::abs(x[k] - geometry.centre[k]));
  });
  double radius = 0, offset = 0;
  for (const double r : radii) radius = std::max(radius, r);
  for (const double c : geometry.centre) offset = std::max(offset, std::abs(c));
  // Points that differ by less than the dtype resolves are one point: the unit is then the offset's resolution.
  radius = std::max(radius, offset * std::numeric_limits<T>::epsilon() / 2);
  constexpr double smallest_unit = 0x1p-1000;  // its reciprocal is still finite
  geometry.unit = std::max(smallest_unit, power_of_two_at_least(radius > 0 ? radius : smallest_bandwidth));
  geometry.limit = (sizeof(T) == 4 ? 1e18 : 1e150) / std::sqrt(static_cast<double>(std::max<index_t>(d, 1)));
  return geometry;
}
template Geometry Geometry::of(MatrixView<float>, double, const Execution&);
template Geometry Geometry::of(MatrixView<double>, double, const Execution&);

template <class T>
PackedPoints<T>::PackedPoints(MatrixView<T> points, const Geometry& geometry, const Grouping& grouping,
                              bool with_product, bool with_difference, bool by_locality, const Execution& execution)
    : d_(points.cols), n_groups_(static_cast<std::size_t>(grouping.n_groups)) {
  lay_out(points, grouping, by_locality, execution);
  pack(points, geometry, with_product, with_difference, execution);
}

// Sorts the points by label and group (counting sort) and cuts each label into tiles.
template <class T>
void PackedPoints<T>::lay_out(MatrixView<T> points, const Grouping& grouping, bool by_locality,
                              const Execution& execution) {
  constexpr int W = lanes<T>;
  const std::size_t n_runs = grouping.n_runs();
  std::vector<index_t> ends(n_runs + 1, 0);  // of each run among the sorted rows, shifted by one while they are filled
  for (index_t i = 0; i < points.rows; ++i)
    if (const auto run = grouping.run_of(i); run >= 0) ++ends[run + 1];
  for (std::size_t run = 0; run < n_runs; ++run) ends[run + 1] += ends[run];
  std::vector<index_t> rows(static_cast<std::size_t>(ends[n_runs])), next(ends.begin(), ends.end() - 1);
  for (index_t i = 0; i < points.rows; ++i)
    if (const auto run = grouping.run_of(i); run >= 0) rows[next[run]++] = i;
  if (by_locality) {
    std::vector<Range> ranges(n_runs);
    for (std::size_t run = 0; run < n_runs; ++run) ranges[run] = {ends[run], ends[run + 1]};
    order_by_locality(points, rows, std::move(ranges), index_t{tile_width<T>}, execution);
  }

  run_starts_.resize(n_runs + 1);
  for (int label = 0; label < grouping.n_labels; ++label) {
    const std::size_t first_run = static_cast<std::size_t>(label) * n_groups_;
    const index_t begin = ends[first_run], size = ends[first_run + n_groups_] - begin;
    const index_t n_vectors = (size + W - 1) / W, shift = n_columns() - begin;
    for (std::size_t group = 0; group < n_groups_; ++group) run_starts_[first_run + group] = ends[first_run + group] + shift;
    // As few tiles as possible, about equal: a last one of a single vector would keep nothing busy.
    index_t left = n_vectors;
    for (index_t n_tiles = (n_vectors + tile_vectors - 1) / tile_vectors; n_tiles > 0; --n_tiles) {
      const index_t share = (left + n_tiles - 1) / n_tiles, whole = (share + tile_step - 1) / tile_step * tile_step;
      const index_t width = std::min({left, whole, index_t{tile_vectors}});
      tiles_.push_back({n_columns() + (n_vectors - left) * W, static_cast<int>(width), label, 0.0});
      left -= width;
    }
    source_.insert(source_.end(), rows.begin() + begin, rows.begin() + begin + size);
    source_.insert(source_.end(), static_cast<std::size_t>(n_vectors * W - size), index_t{-1});
  }
  run_starts_[n_runs] = n_columns();
  if (by_locality) boxes_.resize(tiles_.size() * 2 * static_cast<std::size_t>(d_));
}

template <class T>
void PackedPoints<T>::pack(MatrixView<T> points, const Geometry& geometry, bool with_product, bool with_difference,
                           const Execution& execution) {
  norms_.resize(source_.size());
  if (with_product) centred_.resize(source_.size() * static_cast<std::size_t>(d_));
  if (with_difference) raw_.resize(source_.size() * static_cast<std::size_t>(d_));
  constexpr index_t tiles_a_chunk = 8;
  const auto n_tiles = static_cast<index_t>(tiles_.size());
  for_each_chunk((n_tiles + tiles_a_chunk - 1) / tiles_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    for (index_t t = chunk * tiles_a_chunk; t < std::min((chunk + 1) * tiles_a_chunk, n_tiles); ++t)
      pack_tile(points, geometry, tiles_[t], boxes_.empty() ? nullptr : boxes_.data() + t * 2 * d_);
  });
  for (const Tile& tile : tiles_) largest_norm_ = std::max(largest_norm_, tile.largest_norm);
}

template <class T>
void PackedPoints<T>::pack_tile(MatrixView<T> points, const Geometry& geometry, Tile& tile, T* box) {
  constexpr int W = lanes<T>;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const double scale = 1 / geometry.unit;
  if (box) {
    std::fill(box, box + d_, infinity);
    std::fill(box + d_, box + 2 * d_, -infinity);
  }
  for (int v = 0; v < tile.n_vectors; v += panel_vectors) {
    const int width = std::min(panel_vectors, tile.n_vectors - v) * W;
    const index_t panel_first = tile.first + v * W;
    for (int j = 0; j < width; ++j) {
      const index_t row = source_[panel_first + j];
      double norm = 0;
      for (index_t k = 0; k < d_; ++k) {
        const index_t at = panel_first * d_ + k * width + j;
        // Norms are those of the rounded coordinates, so that the product form is a distance of real points.
        const T x = row < 0 ? T(0) : static_cast<T>((points.row(row)[k] - geometry.centre[k]) * scale);
        norm += static_cast<double>(x) * x;
        if (!centred_.empty()) centred_[at] = x;
        if (!raw_.empty()) raw_[at] = row < 0 ? infinity : static_cast<T>(points.row(row)[k] * scale);
        if (box && row >= 0) {
          box[k] = std::min(box[k], x);
          box[d_ + k] = std::max(box[d_ + k], x);
        }
      }
      norms_[panel_first + j] = row < 0 ? infinity : static_cast<T>(norm);
      if (row >= 0) tile.largest_norm = std::max(tile.largest_norm, norm);
    }
  }
}

template class PackedPoints<float>;
template class PackedPoints<double>;

template <class T>
void PackedQueries<T>::pack(MatrixView<T> queries, const index_t* rows, index_t n_rows, const Geometry& geometry) {
  d = queries.cols;
  n_blocks = (n_rows + tile_rows - 1) / tile_rows;
  const auto size = static_cast<std::size_t>(n_blocks * tile_rows);
  centred.resize(size * static_cast<std::size_t>(d));
  raw.resize(size * static_cast<std::size_t>(d));
  norms.resize(size);
  largest_norm.assign(static_cast<std::size_t>(n_blocks), 0.0);
  const double scale = 1 / geometry.unit;
  for (index_t i = 0; i < n_blocks * tile_rows; ++i) {
    const index_t row = rows[std::min(i, n_rows - 1)];
    const index_t b = i / tile_rows, r = i % tile_rows;
    double norm = 0;
    for (index_t k = 0; k < d; ++k) {
      const double value = queries.row(row)[k], centre = geometry.centre[k];
      const double offset = std::clamp((value - centre) * scale, -geometry.limit, geometry.limit);
      const bool clamped = std::abs(offset) == geometry.limit;
      const T x = static_cast<T>(offset);
      const index_t at = (b * d + k) * tile_rows + r;
      centred[at] = -2 * x;
      raw[at] = static_cast<T>(clamped ? centre * scale + offset : value * scale);
      norm += static_cast<double>(x) * x;
    }
    norms[i] = static_cast<T>(norm);
    largest_norm[b] = std::max(largest_norm[b], norm);
  }
}

template struct PackedQueries<float>;
template struct PackedQueries<double>;

}  // namespace spectralcls
