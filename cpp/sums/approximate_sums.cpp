#include "sums/approximate_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/costs.hpp"
#include "sums/direct_sums.hpp"
#include "sums/gridding_sums.hpp"

namespace spectralcls {
namespace {

constexpr double subtraction_rounding = 1e-14;  // of a point that is taken out of a grid sum, in its weight
constexpr double largest_patch = 1 << 25;       // values in the grid patch of one worker: 256 MiB
constexpr double underflow_radius = 38.7;       // exp(-r^2 / 2) is zero in double from here on

// Of a pair within the radius.
double near_pair_cost(index_t d, index_t columns) {
  return costs.near_pair + costs.near_feature * static_cast<double>(d) +
         costs.near_column * static_cast<double>(columns);
}

struct QueryTile {
  index_t begin, end;  // among the sorted queries
  Cell corner;
  bool grid = false;
  double cost = 0;
};

// Everything that one call shares between its workers.
class Evaluation {
 public:
  Evaluation(const ApproximateSums& request, double* sums, const Execution& execution)
      : request_(request), sums_(sums), execution_(execution), d_(static_cast<int>(request.points.cols)) {
    choose_radii();
    grid_ = CellGrid::over(request.points, cell_side_);
    sources_ = std::make_unique<SourceIndex>(request, grid_);
    sort_queries();
  }

  ApproximateSums::Outcome run() {
    const double brute_pair =
        request_.single_precision ? costs.pair_32 + costs.feature_32 * d_ : costs.pair_64 + costs.feature_64 * d_;
    const double brute =
        request_.brute_passes * brute_pair * static_cast<double>(request_.queries.rows) * request_.points.rows;
    plan();
    if (automatic() && total_cost() > 0.5 * brute) return ApproximateSums::Outcome::brute_force_is_faster;
    const std::vector<KeyedRow> failed = evaluate_tiles();
    if (automatic() && cost_again(failed) > 0.5 * brute) return ApproximateSums::Outcome::brute_force_is_faster;
    evaluate_again(failed);
    return ApproximateSums::Outcome::done;
  }

 private:
  bool automatic() const { return request_.strategy == ApproximateSums::Strategy::automatic; }
  bool gaussian() const { return request_.kernel == Kernel::gaussian; }

  void choose_radii() {
    if (!gaussian()) {
      radius_ = 1;
      cell_side_ = request_.bandwidth * radius_ / 2 * (1 + 1e-6);
      return;
    }
    double largest = 0;  // total |weight| of the heaviest column
    for (index_t c = 0; c < request_.n_columns; ++c) {
      double total = 0;
      for (index_t j = 0; j < request_.points.rows; ++j)
        total += request_.weights ? std::abs(request_.weights[j * request_.n_columns + c]) : 1.0;
      largest = std::max(largest, total);
    }
    const double atol = largest > 0 ? request_.atol / largest : 0.0;
    // A sum is typically some thousandth of the weight in the wider neighborhood that the bounds refer to.
    const double negligible = std::min(std::max(request_.rtol / 1000, atol / 2), 0.01);
    radius_ = std::min(std::sqrt(-2 * std::log(negligible)), underflow_radius);
    cell_side_ = request_.bandwidth * radius_ / 2 * (1 + 1e-6);
    tile_shift_ = 2;
    if (d_ > max_cell_axes) return;
    accuracy_ = GriddingAccuracy::reach(d_, std::min(std::max(request_.rtol, atol) / 2, 0.2), negligible / 4);
    if (accuracy_.width == 0) return;
    tile_shift_ = cells_per_tile_log2[d_];
    cell_side_ = request_.bandwidth * accuracy_.spacing * gridding_box[d_] / (1 << tile_shift_);
  }

  void sort_queries() {
    const index_t m = request_.queries.rows;
    constexpr std::int32_t bias = CellGrid::cell_limit + 1;
    queries_.resize(m);
    for (index_t i = 0; i < m; ++i) {
      const Cell cell = grid_.cell(request_.queries.row(i));
      std::uint64_t tile = 0, within = 0;
      for (int k = 0; k < grid_.n_axes; ++k) {
        const auto index = static_cast<std::uint64_t>(cell[k] + bias);
        tile = tile << (21 - tile_shift_) | index >> tile_shift_;
        within = within << tile_shift_ | (index & ((1u << tile_shift_) - 1));
      }
      queries_[i] = {tile << (tile_shift_ * grid_.n_axes) | within, i};
    }
    sort_by_key(queries_);
    for (index_t i = 0; i < m;) {
      QueryTile tile{i, i, {}};
      const std::uint64_t key = queries_[i].key >> (tile_shift_ * grid_.n_axes);
      while (tile.end < m && queries_[tile.end].key >> (tile_shift_ * grid_.n_axes) == key) ++tile.end;
      const Cell cell = cell_of(tile.begin);
      for (int k = 0; k < grid_.n_axes; ++k) tile.corner[k] = (((cell[k] + bias) >> tile_shift_) << tile_shift_) - bias;
      tiles_.push_back(tile);
      i = tile.end;
    }
  }

  Cell cell_of(index_t sorted_query) const { return grid_.cell(request_.queries.row(queries_[sorted_query].row)); }

  // How many cells a radius (in bandwidths) spans.
  std::int32_t cells(double radius) const {
    return static_cast<std::int32_t>(
        std::min(std::ceil(radius * request_.bandwidth / grid_.side * (1 + 1e-9)), 2.0 * CellGrid::cell_limit));
  }

  // The cells of [corner, corner + width) and `reach` more on every side.
  static CellBox around(const Cell& corner, std::int32_t width, std::int32_t reach) {
    CellBox box;
    for (int k = 0; k < max_cell_axes; ++k) {
      box.lo[k] = std::max(corner[k] - reach, -CellGrid::cell_limit);
      box.hi[k] = std::min(corner[k] + width - 1 + reach, CellGrid::cell_limit);
    }
    return box;
  }

  std::int32_t tile_width() const { return 1 << tile_shift_; }
  // Sources further than two half stencils from a target share no grid point with it.
  double gridding_radius() const { return accuracy_.width * accuracy_.spacing; }

  // Relative error of a kernel value because grid positions are rounded: an absolute error of a few units in the
  // last place of the coordinates times the largest slope of the exponent.
  double position_rounding(const QueryTile& tile) const {
    double largest = 0;
    for (int k = 0; k < grid_.n_axes; ++k)
      largest = std::max({largest, std::abs(grid_.origin[k]), (std::abs(tile.corner[k]) + tile_width()) * grid_.side});
    return 8 * std::numeric_limits<double>::epsilon() * largest / request_.bandwidth * gridding_radius();
  }

  double patch_values() const {
    return std::pow(gridding_box[d_] + 3 * accuracy_.width, d_) * (request_.n_labels + 1) * request_.n_columns;
  }

  bool gridding_possible(const QueryTile& tile) const {
    if (accuracy_.width == 0 || !gaussian() || patch_values() > largest_patch) return false;
    for (int k = 0; k < grid_.n_axes; ++k)
      if (tile.corner[k] <= -CellGrid::cell_limit || tile.corner[k] + tile_width() > CellGrid::cell_limit) return false;
    return position_rounding(tile) < accuracy_.relative / 10;
  }

  template <class F>
  void for_each_group(const QueryTile& tile, F&& f) const {
    for (index_t begin = tile.begin; begin < tile.end;) {
      const index_t end = end_of_group(queries_.data(), begin, tile.end);
      f(begin, end);
      begin = end;
    }
  }

  void plan() {
    constexpr index_t batch = 64;
    const index_t n_tiles = static_cast<index_t>(tiles_.size());
    for_each_chunk((n_tiles + batch - 1) / batch, execution_, [&](index_t chunk, Checkpoint&) {
      for (index_t t = chunk * batch; t < std::min(n_tiles, (chunk + 1) * batch); ++t) plan(tiles_[t]);
    });
    order_.resize(n_tiles);
    std::iota(order_.begin(), order_.end(), index_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](index_t a, index_t b) { return tiles_[a].cost > tiles_[b].cost; });
  }

  void plan(QueryTile& tile) const {
    // Pairs of the first, middle and last group stand for all of them.
    index_t sampled_queries = 0, n_groups = 0;
    double sampled_pairs = 0;
    const index_t size = tile.end - tile.begin;
    std::uint64_t last = ~std::uint64_t{0};
    for_each_group(tile, [&](index_t, index_t) { ++n_groups; });
    for (const index_t i : {tile.begin, tile.begin + size / 3, tile.begin + size * 2 / 3, tile.end - 1}) {
      if (queries_[i].key == last) continue;
      last = queries_[i].key;
      sampled_pairs += static_cast<double>(sources_->count(around(cell_of(i), 1, cells(radius_))));
      ++sampled_queries;
    }
    tile.cost =
        n_groups * costs.group + size * sampled_pairs / sampled_queries * near_pair_cost(d_, request_.n_columns);
    if (request_.strategy == ApproximateSums::Strategy::pairs || !gridding_possible(tile)) return;

    const index_t channels = request_.n_columns * request_.n_labels;
    const double n_sources =
        static_cast<double>(sources_->count(around(tile.corner, tile_width(), cells(gridding_radius()))));
    const int width = accuracy_.width, box = gridding_box[d_];
    const double vectors = std::ceil(width / double(lanes<double>)), extent = box + width;
    const double shared = width * extent / (extent + width);  // mean points of a source's stencil inside, per axis
    const double by_gridding =
        n_sources *
            (costs.stencil * d_ + std::pow(shared, d_ - 1) * vectors * request_.n_columns * costs.gridding_vector) +
        size * (costs.stencil * d_ + std::pow(width, d_ - 1) * vectors * channels * costs.gridding_vector) +
        std::pow(extent, d_) * channels / lanes<double> * costs.gridding_vector;
    if (by_gridding < tile.cost || !automatic()) {
      tile.grid = true;
      tile.cost = by_gridding;
    }
  }

  double total_cost() const {
    double total = costs.row * (request_.queries.rows + request_.points.rows);
    for (const QueryTile& tile : tiles_) total += tile.cost;
    return total;
  }

  // What one worker needs for a chunk of tiles.
  struct Worker {
    explicit Worker(const Evaluation& e)
        : pairs(e.request_, *e.sources_), near(e.request_.n_columns), ring(e.request_.n_columns) {}
    DirectSums pairs;
    std::unique_ptr<GriddingSums> grid;
    std::vector<double> sums, near, ring;
  };

  // The part of [begin, end) that shares the cell of its first row.
  static index_t end_of_group(const KeyedRow* rows, index_t begin, index_t end) {
    index_t stop = begin;
    while (stop < end && rows[stop].key == rows[begin].key) ++stop;
    return stop;
  }

  // Runs all tiles, the most expensive first; returns the queries whose bound is too large, in order.
  std::vector<KeyedRow> evaluate_tiles() {
    const double chunk_cost = std::max(total_cost() / 512, 1e6);
    std::vector<index_t> first{0};
    double cost = 0;
    for (std::size_t t = 0; t < order_.size(); ++t) {
      cost += tiles_[order_[t]].cost;
      if (cost < chunk_cost && t + 1 < order_.size()) continue;
      first.push_back(static_cast<index_t>(t + 1));
      cost = 0;
    }
    std::vector<std::vector<KeyedRow>> failed(first.size() - 1);
    for_each_chunk(static_cast<index_t>(failed.size()), execution_, [&](index_t chunk, Checkpoint& checkpoint) {
      const FlushSubnormals flush;
      Worker worker(*this);
      for (index_t t = first[chunk]; t < first[chunk + 1]; ++t) {
        const QueryTile& tile = tiles_[order_[t]];
        if (tile.grid) {
          by_gridding(tile, worker, failed[chunk], checkpoint);
          continue;
        }
        for_each_group(tile, [&](index_t begin, index_t end) {
          by_pairs(&queries_[begin], end - begin, radius_, worker, failed[chunk], checkpoint);
        });
      }
    });
    std::vector<KeyedRow> all;
    for (const auto& part : failed) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  void by_gridding(const QueryTile& tile, Worker& worker, std::vector<KeyedRow>& failed, Checkpoint& checkpoint) const {
    if (!worker.grid) worker.grid = GriddingSums::create(request_, *sources_, grid_, accuracy_);
    const index_t size = tile.end - tile.begin;
    const CellBox box = around(tile.corner, tile_width(), cells(gridding_radius()));
    worker.sums.resize(size * worker.pairs.n_outputs());
    worker.grid->evaluate(&queries_[tile.begin], size, tile.corner, box, worker.sums.data(), checkpoint);
    sources_->weight_within(box, worker.near.data());
    const double far = std::exp(-gridding_radius() * gridding_radius() / 2);
    for (index_t c = 0; c < request_.n_columns; ++c)
      worker.near[c] = accuracy_.absolute * worker.near[c] + far * sources_->total_weight()[c] +
                       (request_.excluded ? subtraction_rounding * sources_->largest_weight()[c] : 0.0);
    deliver(&queries_[tile.begin], size, accuracy_.relative + position_rounding(tile), worker, failed);
  }

  void by_pairs(const KeyedRow* rows, index_t n_rows, double radius, Worker& worker, std::vector<KeyedRow>& failed,
                Checkpoint& checkpoint) const {
    const Cell cell = grid_.cell(request_.queries.row(rows[0].row));
    const std::int32_t reach = cells(radius);
    worker.sums.resize(n_rows * worker.pairs.n_outputs());
    worker.pairs.evaluate(rows, n_rows, around(cell, 1, reach), worker.sums.data(), checkpoint);
    if (gaussian()) {
      // Weight outside the box, that in a box of twice the size apart: it is nearer than the rest.
      sources_->weight_within(around(cell, 1, reach), worker.near.data());
      sources_->weight_within(around(cell, 1, 2 * reach), worker.ring.data());
      const double sure = reach * grid_.side / request_.bandwidth;  // whole cells: at least the radius asked for
      const double inner = std::exp(-sure * sure / 2), outer = std::exp(-2 * sure * sure);
      for (index_t c = 0; c < request_.n_columns; ++c)
        worker.near[c] = std::max(worker.ring[c] - worker.near[c], 0.0) * inner +
                         (inner * 2e-9 + outer) * sources_->total_weight()[c];
    } else {
      std::fill(worker.near.begin(), worker.near.end(), 0.0);
    }
    deliver(rows, n_rows, 0.0, worker, failed);
  }

  // Writes the sums of a group; lists the queries for which relative * sum + worker.near may exceed the tolerance.
  void deliver(const KeyedRow* rows, index_t n_rows, double relative, const Worker& worker,
               std::vector<KeyedRow>& failed) const {
    const index_t n_columns = request_.n_columns, n_plain = n_columns * request_.n_labels;
    for (index_t i = 0; i < n_rows; ++i) {
      const double* sums = worker.sums.data() + i * worker.pairs.n_outputs();
      std::copy(sums, sums + n_plain, sums_ + rows[i].row * n_plain);
      if (!gaussian()) continue;
      bool within = true;
      for (index_t c = 0; c < n_columns; ++c) {
        const double bound = worker.near[c], sum = std::max(sums[n_plain + c], 0.0);
        const double least = sum / (1 + relative), most = (sum + bound) / (1 - relative);
        const double slack = request_.rtol - relative;
        within = within && bound <= request_.atol + slack * (slack > 0 ? least : most);
      }
      if (!within) failed.push_back(rows[i]);
    }
  }

  // Predicted from a sample: the growing radius stops soon after it has met some points.
  double cost_again(const std::vector<KeyedRow>& failed) const {
    const std::size_t n = failed.size(), n_sampled = std::min<std::size_t>(n, 64);
    double total = 0;
    for (std::size_t i = 0; i < n_sampled; ++i) {
      const Cell cell = grid_.cell(request_.queries.row(failed[i * n / n_sampled].row));
      double radius = 1.5 * radius_;
      while (radius < underflow_radius && sources_->count(around(cell, 1, cells(radius / 1.5))) == 0) radius *= 1.5;
      total += 2 * costs.group + near_pair_cost(d_, request_.n_columns) *
                                     static_cast<double>(sources_->count(around(cell, 1, cells(radius))));
    }
    return n_sampled ? total * static_cast<double>(n) / static_cast<double>(n_sampled) : 0.0;
  }

  void evaluate_again(const std::vector<KeyedRow>& failed) {
    constexpr index_t batch = 64;
    const index_t n = static_cast<index_t>(failed.size());
    for_each_chunk((n + batch - 1) / batch, execution_, [&](index_t chunk, Checkpoint& checkpoint) {
      const FlushSubnormals flush;
      Worker worker(*this);
      const index_t last = std::min(n, (chunk + 1) * batch);
      for (index_t begin = chunk * batch; begin < last;) {
        const index_t end = end_of_group(failed.data(), begin, last);
        std::vector<KeyedRow> rows(failed.begin() + begin, failed.begin() + end), still;
        for (double radius = radius_; !rows.empty(); radius = std::min(1.5 * radius, underflow_radius)) {
          still.clear();
          by_pairs(rows.data(), static_cast<index_t>(rows.size()), radius, worker, still, checkpoint);
          if (radius >= underflow_radius) break;  // what is further away is zero
          rows.swap(still);
        }
        begin = end;
      }
    });
  }

  const ApproximateSums& request_;
  double* sums_;
  const Execution& execution_;
  const int d_;
  double radius_ = 1, cell_side_ = 1;  // of pairs that are evaluated, in bandwidths; of the cells
  int tile_shift_ = 2;                 // a tile is 2^shift cells wide
  GriddingAccuracy accuracy_;
  CellGrid grid_;
  std::unique_ptr<SourceIndex> sources_;
  std::vector<KeyedRow> queries_;  // by tile, then by cell
  std::vector<QueryTile> tiles_;
  std::vector<index_t> order_;  // of the tiles, by falling cost
};

bool all_finite(MatrixView<double> points) {
  return std::all_of(points.data, points.data + points.rows * points.cols, [](double x) { return std::isfinite(x); });
}

}  // namespace

ApproximateSums::Outcome ApproximateSums::compute(double* sums, const Execution& execution) const {
  const Decay decay = traits(kernel).decay;
  const bool exact = rtol <= 0 && atol <= 0;
  // The bounds of what lies beyond a radius are those of the Gaussian.
  if ((exact && decay != Decay::compact) || decay == Decay::exponential || points.rows == 0 || queries.rows == 0 ||
      points.cols == 0)
    return Outcome::brute_force_is_faster;
  if (!all_finite(queries) || !all_finite(points)) return Outcome::brute_force_is_faster;
  return Evaluation(*this, sums, execution).run();
}

}  // namespace spectralcls
