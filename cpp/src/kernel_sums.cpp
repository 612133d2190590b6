#include "spectralcls/kernel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "spectralcls/distance_tile.hpp"
#include "sum_accumulators.hpp"

namespace spectralcls {
namespace {

constexpr double ln2 = 0.69314718055994530942;
constexpr index_t chunk_rows = 128;              // queries of one chunk
constexpr index_t block_bytes = 256 * 1024;      // points that stay in the second-level cache while queries pass
constexpr index_t block_vectors = 256;           // and whose sums stay in T before they are added in double
constexpr index_t ordering_pays_from = 1024;     // queries; sorting the points costs about as much as 100 of them
constexpr index_t boxes_pay_to = 8;              // features; beyond, boxes of neighbours overlap
constexpr double serial_work = 4e6;              // operations below which starting threads costs more than it brings

// Sums of one query chunk over one part of the points, in double. With a scale, the sum of row r and label l is
// 2^(-rate D0) times the stored value, D0 = origin[r, l] in squared units, the same for all bandwidths.
struct Partial {
  std::vector<double> origin, sum;
};

template <class T, bool Scaled>
class Computation {
 public:
  explicit Computation(const KernelSums<T>& request)
      : request_(request),
        gaussian_(request.kernel == Kernel::gaussian),
        n_bandwidths_(static_cast<int>(request.bandwidths.size())),
        n_columns_(request.n_columns),
        smallest_(*std::min_element(request.bandwidths.begin(), request.bandwidths.end())),
        geometry_(Geometry::of(request.points, smallest_)) {
    for (const double h : request.bandwidths) rates_.push_back(rate<T>(request.kernel, geometry_.unit, h));
    lowest_rate_ = *std::min_element(rates_.begin(), rates_.end());
    highest_rate_ = *std::max_element(rates_.begin(), rates_.end());
    ladders_ = make_ladders(rates_, longest_ladder<T>);
    choose_packing();
    if (request.excluded) index_positions();
    pack_weights();
    divide();
  }

  // finish(row, partial of that row: origins (l), sums (l, b, c)) is called once a query.
  template <class Finish>
  void run(const Execution& execution, Finish&& finish) const {
    Execution used = execution;
    const double operations = static_cast<double>(request_.queries.rows) * static_cast<double>(points_->n_columns()) *
                              static_cast<double>(request_.points.cols + 12 * n_bandwidths_ + n_columns_);
    if (operations < serial_work) used.n_threads = 1;

    std::vector<Partial> partials(n_parts_ > 1 ? static_cast<std::size_t>(n_chunks_ * n_parts_) : 0);
    for_each_chunk(n_chunks_ * n_parts_, used, [&](std::ptrdiff_t task, Checkpoint& checkpoint) {
      const FlushSubnormals guard;
      const index_t chunk = task / n_parts_, part = task % n_parts_;
      Partial partial = empty_partial(chunk);
      sum_chunk(chunk, part, partial, checkpoint);
      if (n_parts_ == 1) finish_chunk(chunk, partial, finish);
      else partials[static_cast<std::size_t>(task)] = std::move(partial);
    });
    if (n_parts_ == 1) return;
    // Parts are added in their order, so the result does not depend on who computed them.
    for_each_chunk(n_chunks_, used, [&](std::ptrdiff_t chunk, Checkpoint&) {
      Partial& total = partials[static_cast<std::size_t>(chunk * n_parts_)];
      for (index_t part = 1; part < n_parts_; ++part) merge(partials[static_cast<std::size_t>(chunk * n_parts_ + part)], total);
      finish_chunk(chunk, total, finish);
    });
  }

  double rate_of(int b) const { return rates_[static_cast<std::size_t>(b)]; }

 private:
  static constexpr double headroom = sizeof(T) == 4 ? 40 : 200;  // bits
  struct Block {
    std::size_t begin, end;  // tiles
  };
  struct Chunk {
    index_t begin, end;  // places in rows_
    index_t group;       // of its queries, -1 without groups
  };
  // Working memory of one chunk: sums of a piece as vectors, kernel values for several columns.
  struct Scratch {
    TileBuffer<T> distance, value;
    AlignedVector<Vec<T>> sum;
    T origin[tile_rows];
  };

  void choose_packing() {
    const auto& r = request_;
    const bool order = r.queries.rows >= ordering_pays_from && r.points.cols <= boxes_pay_to &&
                       r.points.rows > 4 * tile_width<T>;
    // Compact kernels use differences: which points lie inside the support must not hang on cancellation.
    const bool always_difference = !gaussian_ || r.points.cols <= 3;
    const std::vector<std::int64_t> segments = segments_of_points();
    points_ = std::make_unique<PackedPoints<T>>(r.points, geometry_, segments.empty() ? r.labels : segments.data(),
                                                r.n_labels * r.n_groups, !always_difference, true, order);
    always_difference_ = always_difference;
    rows_.resize(static_cast<std::size_t>(r.queries.rows));
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = static_cast<index_t>(i);
    if (r.query_groups)
      std::stable_sort(rows_.begin(), rows_.end(), [&](index_t a, index_t b) { return r.query_groups[a] < r.query_groups[b]; });
    for (index_t begin = 0; begin < r.queries.rows;) {
      const index_t group = group_of(rows_[static_cast<std::size_t>(begin)]);
      index_t end = begin;
      while (end < r.queries.rows && group_of(rows_[static_cast<std::size_t>(end)]) == group) ++end;
      if (order) order_by_locality(r.queries, rows_, begin, end, index_t{tile_rows});
      for (; begin < end; begin += chunk_rows) chunks_.push_back({begin, std::min(begin + chunk_rows, end), group});
      begin = end;
    }
  }

  index_t group_of(index_t query) const { return request_.query_groups ? static_cast<index_t>(request_.query_groups[query]) : -1; }
  int label_of(const Tile& tile) const { return tile.segment / request_.n_groups; }

  // With groups a segment of points is one label and one group, labels outermost; empty without groups.
  std::vector<std::int64_t> segments_of_points() const {
    const auto& r = request_;
    std::vector<std::int64_t> segments;
    if (!r.point_groups) return segments;
    segments.resize(static_cast<std::size_t>(r.points.rows));
    for (index_t i = 0; i < r.points.rows; ++i) {
      const std::int64_t label = r.labels ? r.labels[i] : 0;
      segments[static_cast<std::size_t>(i)] = label < 0 ? -1 : label * r.n_groups + r.point_groups[i];
    }
    return segments;
  }

  // Packed columns of the points, needed only to leave some out.
  void index_positions() {
    positions_.assign(static_cast<std::size_t>(request_.points.rows), index_t{-1});
    for (index_t column = 0; column < points_->n_columns(); ++column) {
      const index_t row = points_->source()[static_cast<std::size_t>(column)];
      if (row >= 0) positions_[static_cast<std::size_t>(row)] = column;
    }
  }

  void pack_weights() {
    if (!request_.weights) return;
    weights_.resize(static_cast<std::size_t>(points_->n_columns() * n_columns_));
    for (const Tile& tile : points_->tiles())
      for (index_t c = 0; c < n_columns_; ++c)
        for (index_t j = 0; j < tile.n_vectors * lanes<T>; ++j) {
          const index_t row = points_->source()[static_cast<std::size_t>(tile.first + j)];
          weights_[static_cast<std::size_t>(tile.first * n_columns_ + c * tile.n_vectors * lanes<T> + j)] =
              row < 0 ? T(0) : request_.weights[row * n_columns_ + c];
        }
  }

  // Blocks of points, and parts of blocks when there are too few queries to keep many threads busy. Both depend on
  // the sizes alone, never on the number of threads.
  void divide() {
    const auto& tiles = points_->tiles();
    const index_t vectors =
        std::min(block_vectors, std::max<index_t>(1, block_bytes / (request_.points.cols * vector_bytes)));
    for (std::size_t t = 0; t < tiles.size();) {
      std::size_t end = t;
      for (index_t used = 0; end < tiles.size() && (end == t || used + tiles[end].n_vectors <= vectors); ++end)
        used += tiles[end].n_vectors;
      blocks_.push_back({t, end});
      t = end;
    }
    n_chunks_ = static_cast<index_t>(chunks_.size());
    constexpr index_t enough_tasks = 48;
    n_parts_ = n_chunks_ >= enough_tasks || n_chunks_ == 0
                   ? 1
                   : std::clamp<index_t>(enough_tasks / n_chunks_, 1, std::max<index_t>(1, static_cast<index_t>(blocks_.size()) / 2));
  }

  const Chunk& chunk_at(index_t chunk) const { return chunks_[static_cast<std::size_t>(chunk)]; }
  index_t rows_of(index_t chunk) const { return chunk_at(chunk).end - chunk_at(chunk).begin; }
  index_t results_per_label() const { return n_bandwidths_ * n_columns_; }

  Partial empty_partial(index_t chunk) const {
    const auto cells = static_cast<std::size_t>(rows_of(chunk) * request_.n_labels);
    Partial partial;
    if (Scaled) partial.origin.assign(cells, std::numeric_limits<double>::infinity());
    partial.sum.assign(cells * static_cast<std::size_t>(results_per_label()), 0.0);
    return partial;
  }

  void sum_chunk(index_t chunk, index_t part, Partial& partial, Checkpoint& checkpoint) const {
    PackedQueries<T> queries;
    queries.pack(request_.queries, rows_.data() + chunk_at(chunk).begin, rows_of(chunk), geometry_);
    const std::vector<T> boxes = query_boxes(queries);
    auto scratch = std::make_unique<Scratch>();
    scratch->sum.resize(static_cast<std::size_t>(tile_rows * results_per_label()));

    const auto n_blocks = static_cast<index_t>(blocks_.size());
    const index_t first = n_blocks * part / n_parts_, last = n_blocks * (part + 1) / n_parts_;
    for (index_t b = first; b < last; ++b) {
      const Block block = blocks_[static_cast<std::size_t>(b)];
      for (index_t q = 0; q < queries.n_blocks; ++q) {
        for (std::size_t t = block.begin; t < block.end;) {  // pieces: runs of tiles of one label
          const int label = label_of(points_->tiles()[t]);
          std::size_t end = t;
          while (end < block.end && label_of(points_->tiles()[end]) == label) ++end;
          sum_piece(chunk, queries, q, boxes, t, end, label, partial, *scratch);
          t = end;
        }
      }
      checkpoint();
    }
  }

  // Adds the tiles [begin, end), all of one label, to the sums of one block of query rows.
  void sum_piece(index_t chunk, const PackedQueries<T>& queries, index_t q, const std::vector<T>& boxes,
                 std::size_t begin, std::size_t end, int label, Partial& partial, Scratch& scratch) const {
    std::fill(scratch.sum.begin(), scratch.sum.end(), Vec<T>{});
    const index_t n_rows = std::min<index_t>(tile_rows, rows_of(chunk) - q * tile_rows);
    if (Scaled)
      for (int r = 0; r < tile_rows; ++r)
        scratch.origin[r] = static_cast<T>(
            std::min(r < n_rows ? partial.origin[static_cast<std::size_t>((q * tile_rows + r) * request_.n_labels + label)] : 0.0,
                     static_cast<double>(std::numeric_limits<T>::max())));
    bool any = false;
    for (std::size_t t = begin; t < end; ++t) {
      const Tile& tile = points_->tiles()[t];
      if (request_.point_groups && tile.segment % request_.n_groups == chunk_at(chunk).group) continue;
      if (!boxes.empty() && out_of_reach(boxes.data() + q * 2 * points_->dimension(), points_->box(tile), n_rows, scratch))
        continue;
      any = true;
      const DistanceForm form = always_difference_ ? DistanceForm::difference
                                                   : safe_form<T>(queries.largest_norm[static_cast<std::size_t>(q)],
                                                                  tile.largest_norm, highest_rate_ * ln2);
      squared_distances(form, queries, q, *points_, tile, scratch.distance);
      if (request_.excluded) leave_out(chunk, q, n_rows, tile, scratch.distance);
      if (Scaled) follow_minimum(tile, scratch);
      accumulate(tile, scratch);
    }
    if (any) flush(q * tile_rows, n_rows, label, partial, scratch);
  }

  void accumulate(const Tile& tile, Scratch& s) const {
    const T* weight = request_.weights ? weights_.data() + tile.first * n_columns_ : nullptr;
    const index_t stride = results_per_label();
    if (n_columns_ > 1) {
      for (int b = 0; b < n_bandwidths_; ++b) {
        for (int r = 0; r < tile_rows; ++r)
          detail::kernel_row<T>(request_.kernel, s.distance.value[r], tile.n_vectors, Scaled ? s.origin[r] : T(0),
                                static_cast<T>(rates_[static_cast<std::size_t>(b)]), s.value.value[r]);
        detail::add_product<T>(&s.value.value[0][0], tile_width<T>, weight, n_columns_, tile.n_vectors,
                               s.sum.data() + b * n_columns_, stride);
      }
      return;
    }
    for (int r = 0; r < tile_rows; ++r) {
      Vec<T>* row_sums = s.sum.data() + r * stride;
      if (!gaussian_) {
        for (int b = 0; b < n_bandwidths_; ++b)
          detail::add_compact<T>(request_.kernel, s.distance.value[r], tile.n_vectors,
                                 static_cast<T>(rates_[static_cast<std::size_t>(b)]), weight, row_sums[b]);
        continue;
      }
      const T origin = Scaled ? s.origin[r] : T(0);
      for (const Ladder& ladder : ladders_) {
        Vec<T>* sums[8];
        const int rungs = static_cast<int>(ladder.positions.size());
        for (int l = 0; l < rungs; ++l) sums[l] = row_sums + ladder.positions[static_cast<std::size_t>(l)];
        const T ladder_rate = static_cast<T>(ladder.rate);
        if (weight)
          detail::add_ladder<T, Scaled, true>(rungs, s.distance.value[r], tile.n_vectors, origin, ladder_rate, weight, sums);
        else
          detail::add_ladder<T, Scaled, false>(rungs, s.distance.value[r], tile.n_vectors, origin, ladder_rate, weight, sums);
      }
    }
  }

  static Vec<T> row_minimum(const T* D, int n_vectors) {
    if (n_vectors < tile_vectors) {
      Vec<T> least = load(D);
      for (int v = 1; v < n_vectors; ++v) least = minimum<T>(least, load(D + v * lanes<T>));
      return least;
    }
    Vec<T> least[4];  // four chains: one would wait for itself
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) least[i] = load(D + i * lanes<T>);
#pragma GCC unroll 12
    for (int v = 4; v < tile_vectors; ++v) least[v % 4] = minimum<T>(least[v % 4], load(D + v * lanes<T>));
    return minimum<T>(minimum<T>(least[0], least[1]), minimum<T>(least[2], least[3]));
  }

  // Streaming log-sum-exp: the origin of a row follows its smallest distance, but only when a term would exceed
  // 2^headroom relative to it, so that nearly all tiles pay one minimum and one comparison.
  void follow_minimum(const Tile& tile, Scratch& s) const {
    const T slack = static_cast<T>(headroom / highest_rate_);
    for (int r = 0; r < tile_rows; ++r) {
      const T* D = s.distance.value[r];
      const Vec<T> least = row_minimum(D, tile.n_vectors);
      const T old = s.origin[r];
      const T threshold = old == std::numeric_limits<T>::max() ? old : old - slack;
      if (!any_less<T>(least, broadcast<T>(threshold))) continue;
      const T origin = smallest_lane<T>(least);
      Vec<T>* sums = s.sum.data() + r * results_per_label();
      for (int b = 0; b < n_bandwidths_; ++b) {
        const T factor = static_cast<T>(std::exp2(rates_[static_cast<std::size_t>(b)] * (static_cast<double>(origin) - old)));
        for (index_t c = 0; c < n_columns_; ++c) sums[b * n_columns_ + c] *= factor;
      }
      s.origin[r] = origin;
    }
  }

  void leave_out(index_t chunk, index_t q, index_t n_rows, const Tile& tile, TileBuffer<T>& distance) const {
    for (index_t r = 0; r < n_rows; ++r) {
      const index_t query = rows_[static_cast<std::size_t>(chunk_at(chunk).begin + q * tile_rows + r)];
      const index_t row = request_.excluded[query];
      if (row < 0) continue;
      const index_t column = position_of(row) - tile.first;
      if (column >= 0 && column < tile.n_vectors * lanes<T>) distance.value[r][column] = std::numeric_limits<T>::infinity();
    }
  }

  index_t position_of(index_t row) const { return positions_[static_cast<std::size_t>(row)]; }

  // Bounding boxes of the query blocks (d lows, d highs each), if the points have theirs.
  std::vector<T> query_boxes(const PackedQueries<T>& queries) const {
    if (points_->tiles().empty() || !points_->box(points_->tiles().front())) return {};
    const index_t d = points_->dimension();
    std::vector<T> boxes(static_cast<std::size_t>(queries.n_blocks * 2 * d));
    for (index_t q = 0; q < queries.n_blocks; ++q)
      for (index_t k = 0; k < d; ++k) {
        const T* values = queries.block(DistanceForm::product, q) + k * tile_rows;  // -2 q
        const auto [low, high] = std::minmax_element(values, values + tile_rows);
        boxes[static_cast<std::size_t>(q * 2 * d + k)] = *high * T(-0.5);
        boxes[static_cast<std::size_t>(q * 2 * d + d + k)] = *low * T(-0.5);
      }
    return boxes;
  }

  // Whether all kernel values between two boxes count as zero: outside a compact support, below the range of T,
  // or, with a scale, below a rounding of what the row already holds, were all points that near.
  bool out_of_reach(const T* query_box, const T* tile_box, index_t n_rows, const Scratch& s) const {
    const index_t d = points_->dimension();
    double squared = 0;
    for (index_t k = 0; k < d; ++k) {
      const double low = tile_box[k], high = tile_box[d + k];
      const double q_low = query_box[k], q_high = query_box[d + k];
      const double rounding = 4 * std::numeric_limits<T>::epsilon() * (1 + std::abs(q_low) + std::abs(q_high));
      const double gap = std::max(low - q_high, q_low - high) - rounding;
      if (gap > 0) squared += gap * gap;
    }
    if (!gaussian_) return squared * lowest_rate_ > 1;
    constexpr double range = sizeof(T) == 4 ? 127 : 1023;
    if (!Scaled) return squared * lowest_rate_ > range;
    // With weights the nearest points may weigh nothing, so only what is zero beside them in T may be left out.
    const double negligible = request_.weights ? range + 2 * headroom : (sizeof(T) == 4 ? 64 : 96);
    double farthest_origin = 0;
    for (index_t r = 0; r < n_rows; ++r) farthest_origin = std::max(farthest_origin, static_cast<double>(s.origin[r]));
    return (squared - farthest_origin) * lowest_rate_ > negligible;
  }

  // Adds the vector sums of a piece to the partial sums of its rows, in double.
  void flush(index_t first_row, index_t n_rows, int label, Partial& partial, const Scratch& s) const {
    const index_t per_label = results_per_label();
    for (index_t r = 0; r < n_rows; ++r) {
      const auto cell = static_cast<std::size_t>((first_row + r) * request_.n_labels + label);
      double* total = partial.sum.data() + cell * static_cast<std::size_t>(per_label);
      const Vec<T>* sums = s.sum.data() + r * per_label;
      const double origin = Scaled ? static_cast<double>(s.origin[r]) : 0.0;
      if (Scaled && s.origin[r] == std::numeric_limits<T>::max()) continue;  // nothing but left-out points
      if (Scaled) move_origin(origin, partial.origin[cell], total);
      for (index_t i = 0; i < per_label; ++i) total[i] += sum_of_lanes<T>(sums[i]);
    }
  }

  // Rescales sums from the origin they have to the smaller one of the two.
  void move_origin(double origin, double& current, double* total) const {
    if (origin >= current) return;  // sum_piece starts at the current origin and only ever lowers it
    for (int b = 0; b < n_bandwidths_; ++b) {
      const double factor = std::isinf(current) ? 0.0 : std::exp2(rates_[static_cast<std::size_t>(b)] * (origin - current));
      for (index_t c = 0; c < n_columns_; ++c) total[b * n_columns_ + c] *= factor;
    }
    current = origin;
  }

  void merge(Partial& from, Partial& into) const {
    const index_t per_label = results_per_label();
    const std::size_t cells = into.sum.size() / static_cast<std::size_t>(per_label);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      double* total = into.sum.data() + cell * static_cast<std::size_t>(per_label);
      double* added = from.sum.data() + cell * static_cast<std::size_t>(per_label);
      if (Scaled) {
        if (std::isinf(from.origin[cell])) continue;
        move_origin(from.origin[cell], into.origin[cell], total);
        move_origin(into.origin[cell], from.origin[cell], added);
      }
      for (index_t i = 0; i < per_label; ++i) total[i] += added[i];
    }
  }

  template <class Finish>
  void finish_chunk(index_t chunk, const Partial& partial, Finish&& finish) const {
    for (index_t r = 0; r < rows_of(chunk); ++r) {
      const auto cell = static_cast<std::size_t>(r * request_.n_labels);
      finish(rows_[static_cast<std::size_t>(chunk_at(chunk).begin + r)], Scaled ? partial.origin.data() + cell : nullptr,
             partial.sum.data() + cell * static_cast<std::size_t>(results_per_label()));
    }
  }

  const KernelSums<T>& request_;
  const bool gaussian_;
  const int n_bandwidths_;
  const index_t n_columns_;
  const double smallest_;
  const Geometry geometry_;
  std::vector<double> rates_;
  double lowest_rate_ = 0, highest_rate_ = 0;
  std::vector<Ladder> ladders_;
  std::unique_ptr<PackedPoints<T>> points_;
  bool always_difference_ = false;
  std::vector<Chunk> chunks_;
  std::vector<index_t> rows_;       // query of each place in the order of computation
  std::vector<index_t> positions_;  // packed column of each point, if points are left out
  AlignedVector<T> weights_;        // per tile: [column][point]
  std::vector<Block> blocks_;
  index_t n_chunks_ = 0, n_parts_ = 1;

};

}  // namespace

template <class T>
void KernelSums<T>::plain(T* sums, const Execution& execution) const {
  const auto n_bandwidths = static_cast<index_t>(bandwidths.size());
  Computation<T, false>(*this).run(execution, [&](index_t row, const double*, const double* sum) {
    for (int l = 0; l < n_labels; ++l)
      for (index_t b = 0; b < n_bandwidths; ++b)
        for (index_t c = 0; c < n_columns; ++c)
          sums[((row * n_bandwidths + b) * n_labels + l) * n_columns + c] = static_cast<T>(*sum++);
  });
}

namespace {

// Hands sums and the logarithm of their scale to write(row, b, l, log_scale, sums (c)), whether the kernel needs a
// scale (the Gaussian, which never vanishes) or not (compact ones: a sum of nothing is exactly zero).
template <class T, class Write>
void with_scale(const KernelSums<T>& request, const Execution& execution, Write&& write) {
  const auto n_bandwidths = static_cast<int>(request.bandwidths.size());
  auto run = [&](const auto& computation) {
    computation.run(execution, [&](index_t row, const double* origin, const double* sum) {
      for (int l = 0; l < request.n_labels; ++l)
        for (int b = 0; b < n_bandwidths; ++b, sum += request.n_columns) {
          const bool scaled = origin && !std::isinf(origin[l]);
          write(row, b, l, scaled ? -ln2 * computation.rate_of(b) * origin[l] : 0.0, sum);
        }
    });
  };
  if (request.kernel == Kernel::gaussian) run(Computation<T, true>(request));
  else run(Computation<T, false>(request));
}

}  // namespace

template <class T>
void KernelSums<T>::logs(T* logs, const Execution& execution) const {
  const auto n_bandwidths = static_cast<index_t>(bandwidths.size());
  with_scale<T>(*this, execution, [&](index_t row, int b, int l, double log_scale, const double* sum) {
    for (index_t c = 0; c < n_columns; ++c)
      logs[((row * n_bandwidths + b) * n_labels + l) * n_columns + c] = static_cast<T>(std::log(sum[c]) + log_scale);
  });
}

template <class T>
void KernelSums<T>::scaled(T* log_scale, T* sums, const Execution& execution) const {
  const auto n_bandwidths = static_cast<index_t>(bandwidths.size());
  with_scale<T>(*this, execution, [&](index_t row, int b, int l, double scale, const double* sum) {
    const index_t cell = (row * n_bandwidths + b) * n_labels + l;
    log_scale[cell] = static_cast<T>(scale);
    for (index_t c = 0; c < n_columns; ++c) sums[cell * n_columns + c] = static_cast<T>(sum[c]);
  });
}

template struct KernelSums<float>;
template struct KernelSums<double>;

}  // namespace spectralcls
