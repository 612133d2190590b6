#include "gridding/approximate_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "geometry/pruning_choice.hpp"
#include "gridding/gridding_sums.hpp"
#include "gridding/nearby_sums.hpp"
#include "gridding/source_index.hpp"
#include "infrastructure/costs.hpp"
#include "sums/label_decision.hpp"

namespace spectralcls {
namespace {

// Rounding error when one point is subtracted from a grid sum, relative to the weight of the point.
constexpr double subtraction_rounding = 1e-14;
constexpr double largest_patch = 1 << 25;  // values of one worker's grid patch: 256 MiB
// The grid is used if it is predicted to take less time than exact sums. A trial on some tiles, which takes about
// `trial_share` of the time of exact sums, first measures how many sums remain unsettled.
constexpr double trial_share = 0.02;

struct QueryTile {
  index_t begin, end;  // positions among the sorted queries
  Cell corner;
  double n_sources = 0;                                              // points within the gridding radius
  double exact = 0, grid = std::numeric_limits<double>::infinity();  // predicted nanoseconds

  index_t size() const { return end - begin; }
  bool on_grid() const { return grid < exact; }
  double cost() const { return std::min(grid, exact); }
};

// The results to compute: either all sums, with marks for those that are settled, or labels.
struct Outcome {
  double* sums = nullptr;
  std::uint8_t* settled = nullptr;
  std::int64_t* order = nullptr;
  const LabelRule* rule = nullptr;
  std::int64_t* labels = nullptr;
};

// The evaluation of one request, with the data that all workers share.
class Evaluation {
 public:
  Evaluation(const ApproximateSums& request, const Outcome& outcome, const Execution& execution)
      : request_(request),
        outcome_(outcome),
        execution_(execution),
        d_(static_cast<int>(request.points.cols)),
        accuracy_(accuracy()) {}

  bool run() {
    if (accuracy_.width == 0) return false;
    if (patch_values() > largest_patch) return false;
    tile_shift_ = cells_per_tile_log2[d_];
    grid_ = CellGrid::over(request_.points, request_.bandwidth * accuracy_.spacing * gridding_box[d_] / tile_width());
    if (!always_ && !may_pay()) return false;
    sources_ = std::make_unique<SourceIndex>(request_, grid_);
    for (const Sources& sources : sources_->labels())
      for (index_t c = 0; c < request_.n_columns; ++c)
        inverse_total_.push_back(1 / sources.total(c, request_.n_columns));
    sort_queries();
    plan();
    price();
    auto pays = [&](double failing) {
      const double by_grid = total(&QueryTile::grid), exact = total(&QueryTile::exact);
      return always_ || by_grid + failing * exact < exact;
    };
    if (chosen_.empty() || !pays(0)) return false;
    const auto n_tiles = length(chosen_);
    const auto stride = static_cast<index_t>(
        std::clamp(total(&QueryTile::grid) / (trial_share * exact_), 2.0, 1.0 + static_cast<double>(n_tiles)));
    std::vector<index_t> trial, others;
    for (index_t i = 0; i < n_tiles; ++i)
      if (i % stride == stride / 2 || n_tiles == 1) trial.push_back(chosen_[i]);
    double tried = 0;
    for (const index_t t : trial) tried += tiles_[t].exact;
    const double failing = evaluate(trial) / tried;
    price();
    if (!pays(failing)) {
      forget(outcome_, request_);
      return false;
    }
    std::vector<bool> done(tiles_.size());
    for (const index_t t : trial) done[t] = true;
    for (const index_t t : chosen_)
      if (!done[t]) others.push_back(t);
    // The most expensive tiles come first, so that none of them is left for the end.
    std::stable_sort(others.begin(), others.end(),
                     [&](index_t a, index_t b) { return tiles_[a].grid > tiles_[b].grid; });
    if (outcome_.labels)
      for (index_t t = 0; t < length(tiles_); ++t)
        if (!tiles_[t].on_grid() && !done[t]) others.push_back(t);
    evaluate(others);
    return true;
  }

  // Marks all sums as not settled, or all labels as uncertain.
  static void forget(const Outcome& outcome, const ApproximateSums& request) {
    if (outcome.labels) std::fill_n(outcome.labels, request.queries.rows, uncertain_label);
    else std::fill_n(outcome.settled, request.queries.rows * request.n_labels, std::uint8_t{0});
  }

 private:
  GriddingAccuracy accuracy() const {
    double largest = 0;  // total |weight| of the heaviest column
    for (index_t c = 0; c < request_.n_columns; ++c) {
      double total = 0;
      for (index_t j = 0; j < request_.points.rows; ++j)
        total += request_.weights ? std::abs(request_.weights[j * request_.n_columns + c]) : 1.0;
      largest = std::max(largest, total);
    }
    const double atol = largest > 0 ? request_.atol / largest : 0.0;
    const double relative = std::min(std::max(request_.rtol, atol) / 2, 0.2);
    // The bounds are relative to the weight within the gridding radius. A sum is typically a thousandth of this weight.
    // The sum of a label is much smaller if its points lie within the radius, but none lies close to the query.
    const double typical = request_.each_label ? least_of_label[d_] : 1e-3;
    return GriddingAccuracy::reach(d_, relative, std::min(std::max(request_.rtol * typical, atol / 2), 0.01) / 4);
  }

  void sort_queries() {
    const index_t m = request_.queries.rows;
    constexpr std::int32_t bias = CellGrid::cell_limit + 1;
    queries_.resize(m);
    for (index_t i = 0; i < m; ++i) {
      const Cell cell = grid_.cell(request_.queries.row(i));
      std::uint64_t tile = 0, within = 0;
      for (index_t k = 0; k < d_; ++k)
        tile = tile << (21 - tile_shift_) | static_cast<std::uint64_t>(cell[k] + bias) >> tile_shift_;
      // Within a tile, cells are in Morton order: successive cells lie close together.
      for (int bit = tile_shift_ - 1; bit >= 0; --bit)
        for (index_t k = 0; k < d_; ++k) within = within << 1 | (static_cast<std::uint64_t>(cell[k] + bias) >> bit & 1);
      queries_[i] = {tile << (tile_shift_ * grid_.n_axes) | within, i};
    }
    sort_by_key(queries_);
    if (outcome_.order)
      for (index_t i = 0; i < m; ++i) outcome_.order[i] = query(i).row;
    for (index_t i = 0; i < m;) {
      QueryTile tile{i, i, {}};
      const std::uint64_t key = key_of_tile(i);
      while (tile.end < m && key_of_tile(tile.end) == key) ++tile.end;
      const Cell cell = cell_of(tile.begin);
      for (index_t k = 0; k < d_; ++k) tile.corner[k] = (((cell[k] + bias) >> tile_shift_) << tile_shift_) - bias;
      tiles_.push_back(tile);
      i = tile.end;
    }
  }

  const KeyedRow& query(index_t sorted) const { return queries_[sorted]; }
  std::uint64_t key_of_tile(index_t sorted) const { return query(sorted).key >> (tile_shift_ * grid_.n_axes); }
  Cell cell_of(index_t sorted) const { return grid_.cell(request_.queries.row(query(sorted).row)); }
  std::int32_t tile_width() const { return 1 << tile_shift_; }
  // Returns the distance, in bandwidths, beyond which the stencils of a source and a target share no grid point.
  double gridding_radius() const { return accuracy_.width * accuracy_.spacing; }

  // Returns the number of cells that a radius, given in bandwidths, spans.
  std::int32_t cells(double radius) const {
    return static_cast<std::int32_t>(
        std::min(std::ceil(radius * request_.bandwidth / grid_.side * (1 + 1e-9)), 2.0 * CellGrid::cell_limit));
  }

  // Returns the cells of [corner, corner + width), extended by `reach` cells on every side.
  static CellBox around(const Cell& corner, std::int32_t width, std::int32_t reach) {
    CellBox box;
    for (index_t k = 0; k < max_cell_axes; ++k) {
      box.lo[k] = std::max(corner[k] - reach, -CellGrid::cell_limit);
      box.hi[k] = std::min(corner[k] + width - 1 + reach, CellGrid::cell_limit);
    }
    return box;
  }

  double patch_values() const {
    return std::pow(gridding_box[d_] + 3 * accuracy_.width, d_) *
           static_cast<double>((request_.n_labels + 1) * request_.n_columns);
  }

  // Returns whether no cell of the tile is at the limit. Cells at the limit hold clamped points, which lie elsewhere.
  bool gridding_possible(const QueryTile& tile) const {
    for (index_t k = 0; k < d_; ++k)
      if (tile.corner[k] <= -CellGrid::cell_limit || tile.corner[k] + tile_width() > CellGrid::cell_limit) return false;
    return true;
  }

  // Returns the radius, in bandwidths, beyond which exact sums prune points.
  double seen_radius() const { return request_.single_precision ? 7 : 10; }

  // Returns the predicted time, in nanoseconds, of the exact sums of a query with `n_seen` points within reach: with or
  // without pruning, whichever is faster.
  double exact_cost(double n_seen) const {
    const double pair = costs.pair(d_, request_.single_precision);
    const auto n_points = static_cast<double>(request_.points.rows);
    return request_.exact_passes * std::min(pair * n_points, costs.query + costs.pruned * n_points + 2 * pair * n_seen);
  }

  // Returns the predicted time, in nanoseconds, of a tile with `size` queries on the grid. Every source is spread for
  // its own label, and every query gathers the sums of `n_gathered_` labels.
  double grid_cost(double n_sources, double size) const {
    const auto columns = static_cast<double>(request_.n_columns), channels = columns * request_.n_labels;
    const double width = accuracy_.width, box = gridding_box[d_];
    const double vectors = std::ceil(width / lanes<double>), extent = box + width;
    const double shared =
        width * extent / (extent + width);  // mean number of stencil points inside the patch, for each axis
    const double values = std::pow(extent, d_ - 1) * (extent + 2 * width);
    // Patches of three dimensions exceed the second-level cache.
    const double vector = costs.gridding_vector * (values > 1 << 15 ? 2 : 1);
    return n_sources * (costs.stencil * vectors * d_ + std::pow(shared, d_ - 1) * vectors * columns * vector) +
           size * (costs.stencil * vectors * d_ + std::pow(width, d_ - 1) * vectors * columns * n_gathered_ * vector) +
           values * channels / lanes<double> * vector;
  }

  // Returns whether the grid may pay off: whether tiles hold enough queries, and queries have enough points within
  // reach. The estimate comes from a sample, before anything is sorted.
  bool may_pay() const {
    // The numbers of queries in the sample, and of those queries and points whose distances are looked at.
    constexpr index_t most = 128, most_pairs = 32;
    const index_t m = request_.queries.rows, n = request_.points.rows;
    const auto n_queries = static_cast<double>(m), n_points = static_cast<double>(n);
    const index_t sampled_queries = std::min(m, most), sampled_points = std::min(n, most_pairs),
                  compared_queries = std::min(m, most_pairs);
    const double reach = seen_radius() * request_.bandwidth;
    std::vector<Cell> corners;
    for (index_t i = 0; i < sampled_queries; ++i) {
      Cell corner = grid_.cell(request_.queries.row(i * m / sampled_queries));
      for (index_t k = 0; k < d_; ++k) corner[k] >>= tile_shift_;
      corners.push_back(corner);
    }
    double seen = 0;
    for (index_t i = 0; i < compared_queries; ++i) {
      const double* q = request_.queries.row(i * m / compared_queries);
      for (index_t j = 0; j < sampled_points; ++j) {
        const double* x = request_.points.row(j * n / sampled_points);
        bool near = true;
        for (index_t k = 0; k < d_; ++k) near = near && std::abs(q[k] - x[k]) < reach;
        seen += near;
      }
    }
    std::sort(corners.begin(), corners.end());
    double same = 1;  // pairs of queries in one tile; starts at 1, because none in the sample means few, not none
    for (index_t i = 0, begin = 0; i < length(corners); ++i) {
      if (corners[i] != corners[begin]) begin = i;
      same += static_cast<double>(i - begin);
    }
    const auto pairs = 0.5 * static_cast<double>(sampled_queries * std::max<index_t>(sampled_queries - 1, 1));
    const double size = std::max(n_queries * std::min(same / pairs, 1.0), 1.0);  // mean size of the tile of a query
    const double exact = exact_cost(seen / static_cast<double>(compared_queries * sampled_points) * n_points);
    const double in_reach = std::pow(1 + 2.0 * accuracy_.width / gridding_box[d_], d_);  // volume relative to a tile
    const double by_grid = grid_cost(std::min(size * in_reach, n_queries) * n_points / n_queries, size) / size;
    return by_grid < exact;
  }

  void plan() {
    constexpr index_t batch = 64;
    const auto n_tiles = length(tiles_);
    for_each_chunk((n_tiles + batch - 1) / batch, execution_, [&](index_t chunk, Checkpoint&) {
      for (index_t t = chunk * batch; t < std::min(n_tiles, (chunk + 1) * batch); ++t) plan(tiles_[t]);
    });
    for (const QueryTile& tile : tiles_) exact_ += tile.exact;
  }

  // Predicts the cost of every tile on the grid, and chooses the tiles that the grid makes cheaper.
  void price() {
    chosen_.clear();
    for (index_t t = 0; t < length(tiles_); ++t) {
      QueryTile& tile = tiles_[t];
      if (tile.n_sources > 0) tile.grid = always_ ? 0 : grid_cost(tile.n_sources, static_cast<double>(tile.size()));
      if (tile.on_grid()) chosen_.push_back(t);
    }
  }

  void plan(QueryTile& tile) const {
    // Three queries represent all queries of the tile.
    double seen = 0;
    index_t n_sampled = 0;
    for (const index_t i : {tile.begin, tile.begin + tile.size() / 2, tile.end - 1}) {
      seen += static_cast<double>(sources_->count(around(cell_of(i), 1, cells(seen_radius()))));
      ++n_sampled;
    }
    tile.exact = static_cast<double>(tile.size()) * exact_cost(seen / static_cast<double>(n_sampled));
    if (!gridding_possible(tile)) return;
    tile.n_sources = static_cast<double>(sources_->count(around(tile.corner, tile_width(), cells(gridding_radius()))));
  }

  double total(double QueryTile::* cost) const {
    double total = 0;
    for (const index_t t : chosen_) total += tiles_[t].*cost;
    return total;
  }

  // The buffers of one worker for a chunk of tiles.
  struct Worker {
    std::unique_ptr<GriddingSums> grid;
    std::vector<double> sums, bounds;
    std::unique_ptr<LabelDecision> decision;
    std::vector<double> low, high, most, reach, leader;
    std::vector<int> order, chosen;
    NearbySums nearby;
    double n_gathered = 0;  // labels summed on the grid, counted over all queries
  };

  // Evaluates these tiles, and updates the mean number of labels gathered for a query. Returns the predicted cost of
  // the exact sums that the tiles still need.
  double evaluate(const std::vector<index_t>& tiles) {
    double cost = 0;
    for (const index_t t : tiles) cost += tiles_[t].cost();
    const double chunk_cost = std::max(cost / 512, 1e6);
    std::vector<index_t> first{0};
    cost = 0;
    for (index_t i = 0; i < length(tiles); ++i) {
      cost += tiles_[tiles[i]].cost();
      if (cost < chunk_cost && i + 1 < length(tiles)) continue;
      first.push_back(i + 1);
      cost = 0;
    }
    std::vector<double> left(length(first) - 1, 0.0), gathered(left), queries(left);
    for_each_chunk(length(left), execution_, [&](index_t chunk, Checkpoint& checkpoint) {
      const FlushSubnormals flush;
      Worker worker;
      worker.grid = GriddingSums::create(request_, *sources_, grid_, accuracy_);
      if (outcome_.labels) worker.decision = std::make_unique<LabelDecision>(*outcome_.rule);
      const auto c = chunk;
      for (index_t i = first[c]; i < first[c + 1]; ++i) {
        const QueryTile& tile = tiles_[tiles[i]];
        left[c] += evaluate(tile, worker, checkpoint);
        if (tile.on_grid()) queries[c] += static_cast<double>(tile.size());
      }
      gathered[c] = worker.n_gathered;
    });
    if (const double n = std::accumulate(queries.begin(), queries.end(), 0.0); n > 0 && outcome_.labels)
      n_gathered_ = std::accumulate(gathered.begin(), gathered.end(), 0.0) / n;
    return std::accumulate(left.begin(), left.end(), 0.0);
  }

  double evaluate(const QueryTile& tile, Worker& worker, Checkpoint& checkpoint) const {
    const index_t n_columns = request_.n_columns, n_sums = n_columns * request_.n_labels;
    if (!tile.on_grid()) return decide_by_pairs(tile, worker, checkpoint);
    const CellBox box = around(tile.corner, tile_width(), cells(gridding_radius()));
    worker.grid->spread(tile.corner, box, checkpoint);
    worker.bounds.resize(n_sums);
    sources_->weight_within(box, worker.bounds.data());
    const double far = std::exp(-gridding_radius() * gridding_radius() / 2);
    for (index_t l = 0; l < request_.n_labels; ++l)
      for (index_t c = 0; c < n_columns; ++c) {
        double& bound = worker.bounds[l * n_columns + c];
        bound = accuracy_.absolute * bound + far * sources_->labels()[l].total(c, n_columns);
      }
    if (outcome_.labels) return decide(tile, worker, checkpoint);
    const index_t n_outputs = n_sums + n_columns;
    worker.sums.resize(tile.size() * n_outputs);
    worker.grid->gather(&query(tile.begin), tile.size(), worker.sums.data(), checkpoint);
    double left = 0;
    for (index_t i = 0; i < tile.size(); ++i) {
      const double* sums = worker.sums.data() + i * n_outputs;
      const index_t row = query(tile.begin + i).row;
      std::copy(sums, sums + n_sums, outcome_.sums + row * n_sums);
      left += check(row, sums, worker.bounds, outcome_.settled + row * request_.n_labels);
    }
    return left * tile.exact / static_cast<double>(tile.size());
  }

  // Decides the labels of a tile from its sums on the grid, cell by cell. Returns the predicted cost of exact sums for
  // the queries left uncertain.
  double decide(const QueryTile& tile, Worker& worker, Checkpoint& checkpoint) const {
    double left = 0;
    for (index_t begin = tile.begin; begin < tile.end;) {
      index_t end = begin + 1;
      while (end < tile.end && query(end).key == query(begin).key) ++end;
      rank(cell_of(begin), end - begin, worker);
      for (; begin < end; begin += GriddingSums::batch) {
        checkpoint();
        left += decide(tile, begin, std::min(begin + GriddingSums::batch, end), worker);
      }
      begin = end;
    }
    return left * tile.exact / static_cast<double>(tile.size());
  }

  // Sorts the labels by an upper bound on their scores in the cell. For few queries, or if the rule needs all sums, the
  // bounds are infinite.
  void rank(const Cell& cell, index_t n_queries, Worker& worker) const {
    constexpr index_t few = 4;
    const index_t n_columns = request_.n_columns;
    worker.order.resize(request_.n_labels);
    std::iota(worker.order.begin(), worker.order.end(), 0);
    worker.reach.assign(request_.n_labels, std::numeric_limits<double>::infinity());
    if (n_queries < few || outcome_.rule->log_share) return;
    worker.most.resize(length(worker.bounds));
    worker.grid->bound(cell, worker.most.data());
    for (int l = 0; l < request_.n_labels; ++l) {
      double low;
      bracket(*worker.decision, l * n_columns, worker.most[l * n_columns], worker.bounds[l * n_columns], low,
              worker.most[l * n_columns]);
      worker.reach[l] = worker.decision->score(worker.most[l * n_columns], l, 1);
    }
    std::stable_sort(worker.order.begin(), worker.order.end(),
                     [&](int a, int b) { return worker.reach[a] > worker.reach[b]; });
  }

  // Decides the labels of the queries [begin, end), which share a cell. Returns the number of labels left uncertain.
  double decide(const QueryTile& tile, index_t begin, index_t end, Worker& worker) const {
    const index_t n_columns = request_.n_columns, n_sums = length(worker.bounds), n = end - begin;
    worker.grid->open(&query(begin), n);
    worker.low.assign(n * n_sums, 0.0);
    worker.high.resize(n * n_sums);
    worker.leader.assign(n, -std::numeric_limits<double>::infinity());
    for (const int l : worker.order)
      for (index_t i = 0; i < n; ++i) {
        double *low = &worker.low[i * n_sums + l * n_columns], *high = &worker.high[i * n_sums + l * n_columns];
        if (worker.reach[l] < worker.leader[i]) {
          std::copy_n(&worker.most[l * n_columns], n_columns, high);
          continue;
        }
        worker.n_gathered += 1;
        for (index_t c = 0; c < n_columns; ++c) {
          const index_t channel = l * n_columns + c;
          bracket(*worker.decision, channel, worker.grid->sum(i, channel), worker.bounds[channel], low[c], high[c]);
        }
        worker.leader[i] = std::max(worker.leader[i], worker.decision->score(low[0], l, -1));
      }
    double left = 0;
    for (index_t i = 0; i < n; ++i) {
      std::int64_t label = worker.decision->label(&worker.low[i * n_sums], &worker.high[i * n_sums], 0);
      if (label == uncertain_label)
        label = label_by_pairs(tile, begin + i, &worker.low[i * n_sums], &worker.high[i * n_sums], worker);
      outcome_.labels[query(begin + i).row] = label;
      left += label == uncertain_label;
    }
    return left;
  }

  // Decides the labels of a tile that is not summed on the grid. Returns the predicted cost of exact sums for the
  // queries left uncertain.
  double decide_by_pairs(const QueryTile& tile, Worker& worker, Checkpoint& checkpoint) const {
    const index_t n_columns = request_.n_columns;
    double left = 0;
    for (index_t i = tile.begin; i < tile.end; ++i) {
      checkpoint();
      worker.low.assign(request_.n_labels * n_columns, 0.0);
      worker.high.resize(length(worker.low));
      for (index_t at = 0; at < length(worker.high); ++at) worker.high[at] = 2 / inverse_total_[at];
      worker.decision->label(worker.low.data(), worker.high.data(), 0);
      std::int64_t& label = outcome_.labels[query(i).row];
      label = label_by_pairs(tile, i, worker.low.data(), worker.high.data(), worker);
      left += label == uncertain_label;
    }
    return left * tile.exact / static_cast<double>(tile.size());
  }

  // Returns the label of a query from exact sums over the points near it, or `uncertain_label` if these sums do not
  // decide or are predicted to take longer than sums over all points. Unless the rule has a density, only labels that
  // could still win after the last decision are summed.
  std::int64_t label_by_pairs(const QueryTile& tile, index_t sorted, double* low, double* high, Worker& worker) const {
    const index_t n_columns = request_.n_columns;
    LabelDecision& decision = *worker.decision;
    // For every label, its factor times the sum over the points beyond this radius is less than the rounding error of
    // the best label's factor times its sum.
    double radius = seen_radius();
    if (const double product = decision.best_product(); product > 0) {
      double largest = 0;
      for (int l = 0; l < request_.n_labels; ++l)
        for (index_t c = 0; c < n_columns; ++c)
          largest = std::max(largest, decision.factor(l) * sources_->labels()[l].total(c, n_columns));
      radius = std::sqrt(2 * std::log1p(largest / (outcome_.rule->rounding * product)));
    }
    const CellBox box = around(cell_of(sorted), 1, cells(radius));
    worker.chosen.clear();
    index_t n_pairs = 0;
    for (int l = 0; l < request_.n_labels; ++l) {
      if (!outcome_.rule->log_share && !decision.can_win(l)) continue;
      worker.chosen.push_back(l);
      n_pairs += sources_->labels()[l].tree.count(box);
    }
    const double by_all = tile.exact / static_cast<double>(tile.size());
    if (!always_ && static_cast<double>(n_pairs) * costs.pair_64 > by_all) return uncertain_label;
    const double far = std::exp(-radius * radius / 2);
    for (const int l : worker.chosen) {
      const Sources& sources = sources_->labels()[l];
      const double* near = worker.nearby.over(box, sources, request_.queries.row(query(sorted).row), request_);
      for (index_t c = 0; c < n_columns; ++c) {
        const index_t at = l * n_columns + c;
        low[at] = near[c] * (1 - rounding(decision, near[c], at));
        high[at] = near[c] + far * sources.total(c, n_columns);
        high[at] *= 1 + 1.01 * rounding(decision, high[at], at);
      }
    }
    return decision.label(low, high, 0);
  }

  // Computes bounds on an exact sum from its value on the grid, whose error is at most `bound` plus the relative error
  // of the grid.
  void bracket(const LabelDecision& decision, index_t at, double sum, double bound, double& low, double& high) const {
    low = std::max(sum - bound, 0.0) / (1 + accuracy_.relative);
    high = (std::max(sum, 0.0) + bound) / (1 - accuracy_.relative);
    const double error = rounding(decision, low > 0 ? low : high, at);
    low *= 1 - error;
    high *= 1 + 1.01 * error;
  }

  // Returns a bound on the relative rounding error of a sum over all pairs. It is at most 0.02, because exponents of
  // double are limited. By Jensen's inequality, the mean |exponent| of a sum's terms, weighted by the terms, is at most
  // the |exponent| of the mean term.
  double rounding(const LabelDecision& decision, double sum, index_t at) const {
    std::int64_t bits;
    const double mean = sum * inverse_total_[at];
    std::memcpy(&bits, &mean, sizeof bits);
    const auto exponent = static_cast<double>((bits >> 52 & 2047) - 1023);
    return decision.rounding(1 + 0.6931471805599453 * std::abs(exponent));
  }

  // Marks the sums of a query that are within the tolerance as settled. Returns the fraction of the points whose labels
  // have unsettled sums.
  double check(index_t row, const double* sums, const std::vector<double>& bounds, std::uint8_t* settled) const {
    const index_t n_columns = request_.n_columns, left_out = request_.excluded ? request_.excluded[row] : -1;
    const int label = left_out >= 0 ? sources_->label(left_out) : -1;
    auto within = [&](index_t c, double bound, double sum) {
      const double least = std::max(sum, 0.0) / (1 + accuracy_.relative),
                   most = (std::max(sum, 0.0) + bound) / (1 - accuracy_.relative);
      const double slack = request_.rtol - accuracy_.relative;
      if (label >= 0) bound += subtraction_rounding * sources_->largest_weight()[c];
      return bound <= request_.atol + slack * (slack > 0 ? least : most);
    };
    if (!request_.each_label) {
      bool all = true;
      for (index_t c = 0; c < n_columns; ++c) {
        double bound = 0;
        for (index_t l = 0; l < request_.n_labels; ++l) bound += bounds[l * n_columns + c];
        all = all && within(c, bound, sums[request_.n_labels * n_columns + c]);
      }
      std::fill_n(settled, request_.n_labels, static_cast<std::uint8_t>(all));
      return all ? 0 : 1;
    }
    double left = 0;
    for (index_t l = 0; l < request_.n_labels; ++l) {
      bool all = true;
      for (index_t c = 0; c < n_columns; ++c) {
        const auto at = l * n_columns + c;
        all = all && within(c, bounds[at], sums[at]);
      }
      settled[l] = static_cast<std::uint8_t>(all);
      if (!all) left += static_cast<double>(sources_->labels()[l].size());
    }
    return left / static_cast<double>(request_.points.rows);
  }

  const ApproximateSums& request_;
  const Outcome& outcome_;
  const Execution& execution_;
  const int d_;
  const GriddingAccuracy accuracy_;
  const bool always_ = detail::pruning() == detail::Pruning::always;
  int tile_shift_ = 0;  // a tile is 2^shift cells wide
  CellGrid grid_{};
  std::unique_ptr<SourceIndex> sources_;
  std::vector<double> inverse_total_;  // of each label and column
  std::vector<KeyedRow> queries_;      // sorted by tile, then by cell
  std::vector<QueryTile> tiles_;
  std::vector<index_t> chosen_;  // tiles that are summed on the grid
  double exact_ = 0;             // predicted nanoseconds of the exact sums of all tiles
  // Mean number of labels whose sums are gathered for a query. For decisions without density, two are assumed until the
  // trial has counted them.
  double n_gathered_ =
      outcome_.labels && !outcome_.rule->log_share ? std::min(2, request_.n_labels) : request_.n_labels;
};

}  // namespace

bool ApproximateSums::may_pay(index_t m, index_t n, index_t d, bool single_precision) {
  const detail::Pruning choice = detail::pruning();
  if (m == 0 || n == 0 || !possible(d) || choice == detail::Pruning::never) return false;
  if (choice == detail::Pruning::always) return true;
  constexpr double width = 24, vectors = width / lanes<double>;
  const auto axes = static_cast<double>(d);
  const double least = vectors * (costs.stencil * axes + costs.gridding_vector * std::pow(width, axes - 1));
  return static_cast<double>(m) * static_cast<double>(n) * costs.pair(d, single_precision) >=
         static_cast<double>(m + n) * least;
}

bool ApproximateSums::compute(double* sums, std::uint8_t* settled, std::int64_t* order,
                              const Execution& execution) const {
  const Outcome outcome{sums, settled, order};
  Evaluation::forget(outcome, *this);
  std::fill_n(sums, queries.rows * n_labels * n_columns, 0.0);
  return Evaluation(*this, outcome, execution).run();
}

bool ApproximateSums::decide(const LabelRule& rule, std::int64_t* found, const Execution& execution) const {
  const Outcome outcome{nullptr, nullptr, nullptr, &rule, found};
  Evaluation::forget(outcome, *this);
  return Evaluation(*this, outcome, execution).run();
}

}  // namespace spectralcls
