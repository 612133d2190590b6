// Unit tests of templates that the table of a variant does not export. They are compiled once for each instruction set,
// into a library that unit_tests opens if the machine supports it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "geometry/filtered_tiles.hpp"
#include "gridding/cell_tree.hpp"
#include "gridding/gauss_grid.hpp"
#include "neighbors/selection.hpp"
#include "sums/exp2.hpp"
#include "sums/geometric_grid.hpp"
#include "tests/check.hpp"

namespace spectralcls {
namespace {

// Returns 2^x for each x, computed for N vectors at a time.
template <class T, int N>
std::vector<T> exp2_of(std::vector<T> x) {
  constexpr index_t step = N * lanes<T>;
  const index_t n = length(x);
  x.resize((n + step - 1) / step * step);
  for (index_t i = 0; i < length(x); i += step) {
    Vec<T> v[N];
    for (int k = 0; k < N; ++k) v[k] = load_unaligned(x.data() + i + k * lanes<T>) + exp2_bias<T>;
    exp2_biased<T, N>(v);
    for (int k = 0; k < N; ++k) store_unaligned(x.data() + i + k * lanes<T>, v[k]);
  }
  x.resize(n);
  return x;
}

template <class T>
void exp2_is_the_power_of_two() {
  const int lowest = std::numeric_limits<T>::min_exponent, highest = std::numeric_limits<T>::max_exponent - 2;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> everywhere(lowest, highest), below_one(-8, 0);
  std::vector<T> x;
  for (int i = 0; i < 20000; ++i) {
    // Adding the bias in float does not round multiples of 2^-16.
    x.push_back(static_cast<T>(std::round(everywhere(random) * 0x1p16) * 0x1p-16));
    x.push_back(static_cast<T>(std::round(below_one(random) * 0x1p16) * 0x1p-16));
  }
  const std::vector<T> found = exp2_of<T, 1>(x);
  CHECK((found == exp2_of<T, 4>(x)));
  // Largest relative errors measured on four million arguments: 1.62e-7 (float) and 4.42e-16 (double) without FMA,
  // 1.49e-7 and 3.94e-16 with it.
  const long double allowed = sizeof(T) == 4 ? 1.63e-7L : 4.5e-16L;
  for (index_t i = 0; i < length(x); ++i) {
    const long double exact = std::exp2(static_cast<long double>(x[i]));
    CHECK(std::abs(found[i] - exact) <= allowed * exact);
  }
}

template <class T>
void exp2_is_exact_where_it_can_be() {
  const FlushSubnormals guard;
  const std::vector<T> far{T(-1200), T(-1e6), -std::numeric_limits<T>::max(), -std::numeric_limits<T>::infinity()};
  for (const T value : exp2_of<T, 1>(far)) CHECK(value == 0);
  CHECK((exp2_of<T, 1>({T(0)})[0] == 1));
  // Adding one to x doubles the result exactly, because the fraction stays the same. Multiples of one half are left
  // out, because ties are rounded to even.
  std::vector<T> x;
  for (int i = -40 * 64; i < 40 * 64; ++i)
    if (i % 32 != 0) x.push_back(static_cast<T>(i) / 64);
  std::vector<T> next = x;
  for (T& value : next) value += 1;
  const std::vector<T> value = exp2_of<T, 1>(x), doubled = exp2_of<T, 1>(next);
  for (index_t i = 0; i < length(x); ++i) CHECK(doubled[i] == 2 * value[i]);
}

void selection_divides_keys() {
  const std::vector<float> drawn = normal<float>(32768, 1);
  AlignedVector<float> keys(drawn.begin(), drawn.end());
  for (index_t i = 0; i < length(keys); i += 3) keys[i] = 0.5f;  // ties
  for (int i = 0; i < 7; ++i) keys[length(keys) - 1 - i] = std::nanf("");
  std::vector<float> sorted(keys.begin(), keys.end() - 7);
  std::sort(sorted.begin(), sorted.end());
  detail::Selection<float> selection;
  for (const index_t rank : {1, 17, 9000, 20000, 32700}) {
    const detail::Cut<float> cut = selection(keys.data(), length(keys), rank);
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), cut.threshold) - sorted.begin();
    const auto at_most = std::upper_bound(sorted.begin(), sorted.end(), cut.threshold) - sorted.begin();
    CHECK(below + cut.n_equal == rank && below + cut.n_equal <= at_most);
  }
}

void geometric_grids_cover_every_rate_once() {
  std::vector<double> rates;
  for (int i = 0; i < 24; ++i) rates.push_back(0.7 * std::exp2(i / 3.0));  // three interleaved grids of eight steps
  for (const double other : {1.234, 50.0, 3e-5}) rates.push_back(other);   // these fit into none of the grids
  std::shuffle(rates.begin(), rates.end(), std::mt19937(3));
  for (const int longest : {1, 3, 5, 8}) {
    const std::vector<GeometricGrid> grids = geometric_grids(rates, longest);
    const int of_eight = (8 + longest - 1) / longest;
    CHECK(length(grids) == 3 * of_eight + 3);
    std::vector<int> seen(rates.size());
    for (const GeometricGrid& grid : grids) {
      CHECK(0 < length(grid.positions) && length(grid.positions) <= longest);
      CHECK(grid.rate == rates[grid.positions[0]]);
      for (index_t step = 0; step < length(grid.positions); ++step) {
        const int position = grid.positions[step];
        ++seen[position];
        CHECK(std::abs(std::ldexp(grid.rate, static_cast<int>(step)) / rates[position] - 1) < 1e-13);
      }
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    CHECK(std::is_sorted(grids.begin(), grids.end(), [](auto& a, auto& b) { return a.rate < b.rate; }));
  }
}

// Bounds never exceed a distance, and no pair within the radius of its row is dropped, neither in a single tile nor in
// the search among all tiles. If all coordinates are used, no pair clearly beyond the radius passes.
template <class T>
void tile_filter_bounds_distances(index_t d) {
  constexpr index_t n = 6000, m = 4 * tile_rows - 1;
  const std::vector<T> X = normal<T>(n * d, 11), Q = normal<T>(m * d, 12);
  const MatrixView<T> points{X.data(), n, d}, queries{Q.data(), m, d};
  const Execution run;
  const Geometry geometry = Geometry::of(points, {}, run);
  detail::FilteredTiles<T> tiles(points, geometry, run);
  const PackedTiles<T> packed = tiles.pack(points, geometry, {}, true, true, run);
  std::vector<index_t> rows(m);
  std::iota(rows.begin(), rows.end(), index_t{0});
  const AlignedVector<float> coordinates = tiles.arrange(queries, geometry, rows, {{0, m}}, run);
  const auto squared = [&](index_t q, index_t x) {
    double sum = 0;
    for (index_t k = 0; k < d; ++k) sum += std::pow((double(Q[q * d + k]) - double(X[x * d + k])) / geometry.scale, 2);
    return sum;
  };
  detail::TileFilter::Block block;
  index_t n_hits = 0, n_within = 0;
  for (index_t first = 0; first < m; first += tile_rows) {
    const index_t n_rows = std::min<index_t>(tile_rows, m - first);
    block.set(tiles.filter(), coordinates.data(), rows.data() + first, n_rows);
    // The squared radius of row r is the squared distance to its neighbor 40 (r + 1), counted from 0.
    double radius[tile_rows], farthest = 0;
    for (index_t r = 0; r < n_rows; ++r) {
      std::vector<double> all;
      for (index_t x = 0; x < n; ++x) all.push_back(squared(rows[first + r], x));
      std::sort(all.begin(), all.end());
      radius[r] = all[40 * (r + 1)];
      farthest = std::max(farthest, all.back());
    }
    detail::SearchRadius search_radius;
    search_radius.set(n_rows, [&](index_t r) { return radius[r]; });
    const index_t n_tiles = tiles.filter().n_tiles(), nearest = block.nearest(n_tiles / 3, n_tiles);
    for (index_t t = n_tiles / 3; t < n_tiles; ++t)
      CHECK(double{block.bound(nearest)} <= double{block.bound(t)} + 0.0101 * farthest);
    std::vector<int> hits_of(n_tiles);  // by the search among all tiles
    block.for_each_near(
        {0, n_tiles}, {nearest, nearest + 1}, search_radius, [](index_t) { return false; },
        [&](index_t t, int found, const std::uint64_t*) { hits_of[t] += found; });
    CHECK(hits_of[nearest] == 0);
    for (index_t t = 0; t < n_tiles; ++t) {
      const Tile& tile = packed.tiles()[t];
      std::uint64_t bits[tile_rows];
      int counted = 0;
      const int hits = block.hits(t, search_radius.squared, bits);
      for (index_t r = 0; r < tile_rows; ++r) {
        counted += __builtin_popcountll(bits[r]);
        if (r >= n_rows) CHECK(bits[r] == 0);
      }
      CHECK(hits == counted);
      CHECK(hits_of[t] == (t == nearest ? 0 : hits));
      for (index_t r = 0; r < n_rows; ++r)
        for (index_t j = 0; j < tile.n_vectors * lanes<T>; ++j) {
          const index_t x = packed.rows()[tile.first + j];
          const bool hit = bits[r] >> j & 1;
          if (x < 0) {
            CHECK(!hit);
            continue;
          }
          const double distance = squared(rows[first + r], x);
          CHECK(block.bound(t) <= distance);
          n_hits += hit;
          n_within += distance <= radius[r];
          if (distance <= radius[r]) CHECK(hit);
          if (distance > radius[r] + 1e-4 * farthest && d < detail::TileFilter::most_coordinates) CHECK(!hit);
        }
    }
  }
  CHECK(0 < n_within && n_within <= n_hits);
  if (d < detail::TileFilter::most_coordinates) CHECK(n_hits < m * n / 2);
}

// The grid sum of a single pair differs from the Gaussian by at most the stated bounds, and equals overlap().
template <int D, int Width>
void grid_pairs_are_gaussian(const GriddingAccuracy& accuracy) {
  constexpr int box = 16;
  using Patch = GridPatch<D, Width, box>;
  Patch patch(accuracy.spacing, 2);
  const double norm = std::pow(accuracy.spacing * std::sqrt(2 / std::acos(-1.0)), D);
  std::mt19937 random(20 + D);
  std::uniform_real_distribution<double> target_at(Width / 2, Width / 2 + box), source_at(-Width, box + 2 * Width);
  for (int repeat = 0; repeat < 300; ++repeat) {
    double source[D], target[D];
    long double squared = 0;
    for (int k = 0; k < D; ++k) {
      target[k] = target_at(random);
      // Near and far pairs, and targets at the edge of the box.
      source[k] = repeat % 2 ? source_at(random) : target[k] + source_at(random) / (8 * Width);
      if (repeat % 50 == 0) target[k] = Width / 2 + (repeat % 100 ? box : 0);
      squared += std::pow(static_cast<long double>(source[k] - target[k]) * accuracy.spacing, 2);
    }
    const auto at_target = patch.target_stencil(target);
    double sum = 0;
    patch.clear(0);
    patch.clear(1);
    if (Patch::reaches(source)) {
      const auto at_source = patch.stencil(source);
      patch.spread(at_source, -2.5, 0);
      sum = patch.gather(at_target, 0) / -2.5;
      CHECK(std::abs(Patch::overlap(at_source, at_target) - sum) <= 1e-13 * (1 + sum));
      CHECK(patch.gather(at_target, 1) == 0);  // channels are separate
    }
    const long double exact = std::exp(-squared / 2);
    CHECK(std::abs(norm * sum - exact) <= accuracy.relative * exact + accuracy.absolute + 1e-15L);
  }
}

template <int D>
void grids_are_as_accurate_as_asked() {
  for (const double relative : {1e-2, 1e-5, 1e-9})
    for (const double absolute : {1e-3, 1e-6, 1e-10, 1e-14}) {
      const GriddingAccuracy accuracy = GriddingAccuracy::reach(D, relative, absolute);
      CHECK(accuracy.relative <= relative && accuracy.relative > relative / 4);  // no finer than needed
      if (accuracy.width == 0) continue;
      CHECK(accuracy.absolute <= absolute);
      if (accuracy.width == 8) grid_pairs_are_gaussian<D, 8>(accuracy);
      if (accuracy.width == 12) grid_pairs_are_gaussian<D, 12>(accuracy);
      if (accuracy.width == 16) grid_pairs_are_gaussian<D, 16>(accuracy);
      if (accuracy.width == 24) grid_pairs_are_gaussian<D, 24>(accuracy);
    }
}

void cell_tree_counts_the_points_of_boxes() {
  for (const index_t d : {1, 2, 3}) {
    constexpr index_t n = 1500;
    std::vector<double> X = normal<double>(n * d, 30);
    X[0] = 1e12;  // clamped to the last cell
    const MatrixView<double> points{X.data(), n, d};
    const CellGrid grid = CellGrid::over(points, 0.25);
    std::vector<index_t> rows;
    for (index_t i = 0; i < n; i += 2) rows.push_back(i);
    const CellTree tree(points, rows, grid);
    std::vector<index_t> order = tree.order();
    std::sort(order.begin(), order.end());
    CHECK(order == rows);
    std::mt19937 random(31);
    for (int repeat = 0; repeat < 200; ++repeat) {
      CellBox box{};
      for (index_t k = 0; k < d; ++k) {
        box.lo[k] = static_cast<std::int32_t>(random() % 30) - 15;
        box.hi[k] = repeat == 0 ? CellGrid::cell_limit : box.lo[k] + static_cast<std::int32_t>(random() % 8);
      }
      const auto inside = [&](index_t row) {
        const Cell cell = grid.cell(points.row(row));
        for (index_t k = 0; k < d; ++k)
          if (cell[k] < box.lo[k] || cell[k] > box.hi[k]) return false;
        return true;
      };
      index_t visited = 0;
      tree.visit(box, [&](index_t begin, index_t end) {
        for (index_t p = begin; p < end; ++p) CHECK(inside(tree.order()[p]));
        visited += end - begin;
      });
      CHECK(visited == std::count_if(rows.begin(), rows.end(), inside) && visited == tree.count(box));
    }
  }
}

}  // namespace
}  // namespace spectralcls

extern "C" __attribute__((visibility("default"))) int spectralcls_vector_tests() {
  using namespace spectralcls;
  exp2_is_the_power_of_two<float>();
  exp2_is_the_power_of_two<double>();
  exp2_is_exact_where_it_can_be<float>();
  exp2_is_exact_where_it_can_be<double>();
  selection_divides_keys();
  geometric_grids_cover_every_rate_once();
  for (const index_t d : {1, 5, 20, 60}) {
    tile_filter_bounds_distances<float>(d);
    tile_filter_bounds_distances<double>(d);
  }
  grids_are_as_accurate_as_asked<1>();
  grids_are_as_accurate_as_asked<2>();
  grids_are_as_accurate_as_asked<3>();
  cell_tree_counts_the_points_of_boxes();
  return n_failed;
}
