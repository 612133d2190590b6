#include "sums/kernel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/box.hpp"
#include "base/distance_tile.hpp"
#include "sums/partial_sums.hpp"
#include "sums/sum_accumulators.hpp"
#include "sums/sum_plan.hpp"

namespace spectralcls {
namespace {

template <class T, bool Scaled>
class Computation {
  using Partial = detail::PartialSums<T>;

 public:
  Computation(const KernelSums<T>& request, const Execution& execution)
      : request_(request),
        execution_(execution.for_work(operations(request))),
        plan_(request, Scaled, execution_),
        n_bandwidths_(static_cast<int>(request.n_bandwidths())),
        n_columns_(request.n_columns),
        n_chunks_(static_cast<index_t>(plan_.chunks.size())),
        n_parts_(plan_.n_parts) {}

  // finish(row, partial of that row: origins (l), sums (l, b, c)) is called once a query.
  template <class Finish>
  void run(Finish&& finish) const {
    std::vector<Partial> partials(n_parts_ > 1 ? static_cast<std::size_t>(n_chunks_ * n_parts_) : 0);
    for_each_chunk(n_chunks_ * n_parts_, execution_, [&](std::ptrdiff_t task, Checkpoint& checkpoint) {
      const FlushSubnormals guard;
      const Range& chunk = plan_.chunks[static_cast<std::size_t>(task / n_parts_)];
      Partial partial(plan_, chunk.size(), Scaled);
      sum_chunk(chunk, task % n_parts_, partial, checkpoint);
      if (n_parts_ == 1) finish_chunk(chunk, partial, finish);
      else partials[static_cast<std::size_t>(task)] = std::move(partial);
    });
    if (n_parts_ == 1) return;
    // Parts are added in their order, so the result does not depend on who computed them.
    for_each_chunk(n_chunks_, execution_, [&](std::ptrdiff_t chunk, Checkpoint&) {
      Partial& total = partials[static_cast<std::size_t>(chunk * n_parts_)];
      for (index_t part = 1; part < n_parts_; ++part) total.add(partials[static_cast<std::size_t>(chunk * n_parts_ + part)]);
      finish_chunk(plan_.chunks[static_cast<std::size_t>(chunk)], total, finish);
    });
  }

  double rate_of(int label, int b) const { return plan_.of(label).rates[static_cast<std::size_t>(b)]; }

 private:
  static constexpr double headroom = sizeof(T) == 4 ? 40 : 200;  // bits
  // Working memory of one chunk: sums of a piece as vectors, kernel values for several columns.
  struct Scratch {
    TileBuffer<T> distance, value;
    AlignedVector<Vec<T>> sum;
    T origin[tile_rows];
    double gap[tile_rows];  // smallest distance of the tile beyond the origin, where somebody asks for it
  };

  static double operations(const KernelSums<T>& request) {
    const auto per_pair = request.points.cols + 12 * request.n_bandwidths() + request.n_columns;
    return static_cast<double>(request.queries.rows) * static_cast<double>(request.points.rows) * static_cast<double>(per_pair);
  }

  index_t vectors_per_row() const { return n_bandwidths_ * plan_.columns().n_vectors(); }

  void sum_chunk(const Range& chunk, index_t part, Partial& partial, Checkpoint& checkpoint) const {
    PackedQueries<T> queries;
    queries.pack(request_.queries, plan_.rows.data() + chunk.begin, chunk.size(), plan_.kept->geometry());
    const std::vector<T> boxes = query_boxes(queries);
    auto scratch = std::make_unique<Scratch>();
    scratch->sum.resize(static_cast<std::size_t>(tile_rows * vectors_per_row()));

    const auto n_blocks = static_cast<index_t>(plan_.blocks.size());
    const index_t first = n_blocks * part / n_parts_, last = n_blocks * (part + 1) / n_parts_;
    for (index_t b = first; b < last; ++b) {
      const auto block = plan_.blocks[static_cast<std::size_t>(b)];
      for (index_t q = 0; q < queries.n_blocks; ++q) {
        for (index_t t = block.begin; t < block.end;) {  // pieces: runs of tiles of one label
          const int label = plan_.points->tiles()[t].label;
          index_t end = t;
          while (end < block.end && plan_.points->tiles()[end].label == label) ++end;
          sum_piece(chunk, queries, q, boxes, t, end, label, partial, *scratch);
          t = end;
        }
      }
      checkpoint();
    }
  }

  // Adds the tiles [begin, end), all of one label, to the sums of one block of query rows.
  void sum_piece(const Range& chunk, const PackedQueries<T>& queries, index_t q, const std::vector<T>& boxes,
                 index_t begin, index_t end, int label, Partial& partial, Scratch& scratch) const {
    std::fill(scratch.sum.begin(), scratch.sum.end(), Vec<T>{});
    const index_t n_rows = std::min<index_t>(tile_rows, chunk.size() - q * tile_rows);
    if (Scaled)
      for (int r = 0; r < tile_rows; ++r)
        scratch.origin[r] = static_cast<T>(
            std::min(r < n_rows ? partial.origins(q * tile_rows + r)[label] : 0.0,
                     static_cast<double>(std::numeric_limits<T>::max())));
    bool any = false;
    for (index_t t = begin; t < end; ++t) {
      const Tile& tile = plan_.points->tiles()[t];
      if (leaves_out_whole(chunk, q, n_rows, tile)) continue;
      if (!boxes.empty() && out_of_reach(boxes.data() + q * 2 * plan_.points->dimension(), tile, n_rows, scratch))
        continue;
      any = true;
      measure(chunk, queries, q, n_rows, tile, scratch);
      if (Scaled || n_bandwidths_ > 1) follow_minimum(tile, n_rows, scratch);
      accumulate(tile, n_rows, scratch);
    }
    if (any) flush(q * tile_rows, n_rows, label, partial, scratch);
  }

  // The kernel's arguments for a tile, infinite for what a query leaves out.
  void measure(const Range& chunk, const PackedQueries<T>& queries, index_t q, index_t n_rows, const Tile& tile, Scratch& s) const {
    plan_.of(tile.label).arguments.measure(queries, q, n_rows, *plan_.points, tile, s.distance, [&] {
      if (request_.query_groups) leave_out_group(chunk, q, n_rows, tile, s.distance);
      if (request_.excluded) leave_out(chunk, q, n_rows, tile, s.distance);
    });
  }

  void accumulate(const Tile& tile, index_t n_rows, Scratch& s) const {
    if (n_columns_ > 1) return accumulate_columns(tile, n_rows, s);
    if (n_bandwidths_ == 1 || !plan_.rates_double) {
      for (int b = 0; b < n_bandwidths_; ++b) {
        const double rate = rate_of(tile.label, b);
        detail::add_rows<T, Scaled>(request_.kernel, s.distance,
                                    {n_rows, tile.n_vectors, static_cast<T>(rate), plan_.weights->of(tile, b), s.origin, s.gap,
                                     plan_.negligible / rate, s.sum.data() + b, vectors_per_row()});
      }
      return;
    }
    for (index_t r = 0; r < n_rows; ++r) {
      Vec<T>* row_sums = s.sum.data() + r * vectors_per_row();
      const T origin = Scaled ? s.origin[r] : T(0);
      for (const Ladder& ladder : plan_.of(tile.label).ladders) {
        detail::Rung<T> rungs[longest_ladder<T>];
        const int n_rungs = live_rungs(ladder, s.gap[r]);
        if (n_rungs == 0) break;  // the rates of ladders ascend
        for (int l = 0; l < n_rungs; ++l) {
          const int b = ladder.positions[static_cast<std::size_t>(l)];
          rungs[l] = {row_sums + b, plan_.weights->of(tile, b)};
        }
        const T ladder_rate = static_cast<T>(ladder.rate);
        if (request_.weights)
          detail::add_ladder<T, Scaled, true>(n_rungs, s.distance.value[r], tile.n_vectors, origin, ladder_rate, rungs);
        else
          detail::add_ladder<T, Scaled, false>(n_rungs, s.distance.value[r], tile.n_vectors, origin, ladder_rate, rungs);
      }
    }
  }

  // Several columns: kernel values of the tile into a buffer, then a small product with the weights.
  void accumulate_columns(const Tile& tile, index_t n_rows, Scratch& s) const {
    auto add = [&](int b) {
      plan_.columns().add_product(s.value, n_rows, plan_.weights->of(tile, b), tile.n_vectors,
                                  s.sum.data() + b * plan_.columns().n_vectors(), vectors_per_row());
    };
    auto evaluate = [&](int b) {
      detail::kernel_rows<T>(request_.kernel, s.distance, n_rows, tile.n_vectors, Scaled ? s.origin : nullptr,
                             static_cast<T>(rate_of(tile.label, b)), s.value);
    };
    if (!plan_.rates_double) {
      for (int b = 0; b < n_bandwidths_; ++b) {
        evaluate(b);
        add(b);
      }
      return;
    }
    const double gap = *std::min_element(s.gap, s.gap + n_rows);
    for (const Ladder& ladder : plan_.of(tile.label).ladders)
      for (int l = 0; l < live_rungs(ladder, gap); ++l) {
        const int b = ladder.positions[static_cast<std::size_t>(l)];
        if (l == 0) evaluate(b);
        else
          for (index_t r = 0; r < n_rows; ++r) detail::square_row<T>(s.value.value[r], tile.n_vectors);
        add(b);
      }
  }

  // How many bandwidths of a ladder see more than zero across a gap: 2^i rate gap <= negligible. Nobody measures the gap
  // for one bandwidth without a scale.
  int live_rungs(const Ladder& ladder, double gap) const {
    const int n_rungs = static_cast<int>(ladder.positions.size());
    if (!Scaled && n_bandwidths_ == 1) return n_rungs;
    const double bits = ladder.rate * gap;
    if (bits > plan_.negligible) return 0;
    int live = 1;
    for (int i = 1; i < n_rungs; ++i) live += bits * static_cast<double>(1 << i) <= plan_.negligible;
    return live;
  }

  // The smallest distance of each row to the tile decides which bandwidths the tile matters to. With a scale it also is
  // a streaming log-sum-exp: the origin follows it, but only when a term would exceed 2^headroom relative to it.
  void follow_minimum(const Tile& tile, index_t n_rows, Scratch& s) const {
    const detail::Bandwidths<T>& bandwidths = plan_.of(tile.label);
    const T slack = static_cast<T>(headroom / bandwidths.highest_rate);
    for (index_t r = 0; r < n_rows; ++r) {
      const T smallest = smallest_lane<T>(row_minimum<T>(s.distance.value[r], tile.n_vectors));
      if (!Scaled) {
        s.gap[r] = smallest;
        continue;
      }
      const T old = s.origin[r];
      const T threshold = old == std::numeric_limits<T>::max() ? old : old - slack;
      s.gap[r] = static_cast<double>(smallest) - old;
      if (!(smallest < threshold)) continue;
      s.gap[r] = 0;
      s.origin[r] = smallest;
      if (old == std::numeric_limits<T>::max()) continue;  // no sums yet
      Vec<T>* sums = s.sum.data() + r * vectors_per_row();
      bandwidths.for_each_shift(static_cast<double>(smallest) - old, [&](double factor) {
        for (index_t v = 0; v < plan_.columns().n_vectors(); ++v) *sums++ *= static_cast<T>(factor);
      });
    }
  }

  // Whether a tile holds nothing but points of the group of every query of a block.
  bool leaves_out_whole(const Range& chunk, index_t q, index_t n_rows, const Tile& tile) const {
    if (!request_.query_groups) return false;
    const index_t place = chunk.begin + q * tile_rows, group = plan_.group_at(place);
    if (plan_.group_at(place + n_rows - 1) != group) return false;  // queries are sorted by group
    const Range own = plan_.points->run(tile.label, group);
    return own.begin <= tile.first && tile.first + tile.n_vectors * lanes<T> <= own.end;
  }

  // Each query leaves out the run of columns that belongs to its group.
  void leave_out_group(const Range& chunk, index_t q, index_t n_rows, const Tile& tile, TileBuffer<T>& distance) const {
    for (index_t r = 0; r < n_rows; ++r) {
      const Range own = plan_.points->run(tile.label, plan_.group_at(chunk.begin + q * tile_rows + r));
      const index_t width = tile.n_vectors * lanes<T>;
      const index_t begin = std::clamp<index_t>(own.begin - tile.first, 0, width);
      const index_t end = std::clamp<index_t>(own.end - tile.first, begin, width);
      std::fill(distance.value[r] + begin, distance.value[r] + end, std::numeric_limits<T>::infinity());
    }
  }

  void leave_out(const Range& chunk, index_t q, index_t n_rows, const Tile& tile, TileBuffer<T>& distance) const {
    const std::vector<index_t>& positions = plan_.kept->positions();
    for (index_t r = 0; r < n_rows; ++r) {
      const index_t query = plan_.rows[static_cast<std::size_t>(chunk.begin + q * tile_rows + r)];
      const index_t row = request_.excluded[query];
      if (row < 0) continue;
      const index_t column = positions[static_cast<std::size_t>(row)] - tile.first;
      if (column >= 0 && column < tile.n_vectors * lanes<T>) distance.value[r][column] = std::numeric_limits<T>::infinity();
    }
  }

  // Bounding boxes of the query blocks (d lows, d highs each), if the points have theirs.
  std::vector<T> query_boxes(const PackedQueries<T>& queries) const {
    if (plan_.points->tiles().empty() || !plan_.points->box(plan_.points->tiles().front())) return {};
    return boxes_of_blocks(queries);
  }

  // Whether all kernel values between two boxes count as zero: outside a compact support, or negligible.
  bool out_of_reach(const T* query_box, const Tile& tile, index_t n_rows, const Scratch& s) const {
    const double squared = squared_gap(query_box, plan_.points->box(tile), plan_.points->dimension());
    const double lowest_rate = plan_.of(tile.label).lowest_rate;
    const double least = argument(request_.kernel, squared);
    if (plan_.compact) return least * lowest_rate > 1;
    double farthest_origin = 0;
    if (Scaled)
      for (index_t r = 0; r < n_rows; ++r) farthest_origin = std::max(farthest_origin, static_cast<double>(s.origin[r]));
    return (least - farthest_origin) * lowest_rate > plan_.negligible;
  }

  // Adds the vector sums of a piece to the partial sums of its rows, in double.
  void flush(index_t first_row, index_t n_rows, int label, Partial& partial, const Scratch& s) const {
    for (index_t r = 0; r < n_rows; ++r) {
      if (Scaled && s.origin[r] == std::numeric_limits<T>::max()) continue;  // nothing but left-out points
      // sum_piece starts at the origin of the cell and only ever lowers it.
      if (Scaled) partial.lower_origin(first_row + r, label, static_cast<double>(s.origin[r]));
      double* total = partial.sums(first_row + r, label);
      const Vec<T>* sums = s.sum.data() + r * vectors_per_row();
      for (int b = 0; b < n_bandwidths_; ++b)
        plan_.columns().reduce(sums + b * plan_.columns().n_vectors(), total + b * n_columns_);
    }
  }

  template <class Finish>
  void finish_chunk(const Range& chunk, Partial& partial, Finish&& finish) const {
    for (index_t r = 0; r < chunk.size(); ++r)
      finish(plan_.rows[static_cast<std::size_t>(chunk.begin + r)], partial.origins(r), partial.sums(r));
  }

  const KernelSums<T>& request_;
  const Execution execution_;
  const detail::SumPlan<T> plan_;
  const int n_bandwidths_;
  const index_t n_columns_, n_chunks_, n_parts_;
};

}  // namespace

template <class T>
void KernelSums<T>::plain(T* sums, const Execution& execution) const {
  const index_t n_bandwidths = this->n_bandwidths();
  Computation<T, false>(*this, execution).run([&](index_t row, const double*, const double* sum) {
    for (int l = 0; l < n_labels; ++l)
      for (index_t b = 0; b < n_bandwidths; ++b)
        for (index_t c = 0; c < n_columns; ++c)
          sums[((row * n_bandwidths + b) * n_labels + l) * n_columns + c] = static_cast<T>(*sum++);
  });
}

namespace {

// Hands sums and the logarithm of their scale to write(row, b, l, log_scale, sums (c)), whether the kernel needs a
// scale (one that never vanishes) or not (compact ones: a sum of nothing is exactly zero).
template <class T, class Write>
void with_scale(const KernelSums<T>& request, const Execution& execution, Write&& write) {
  const auto n_bandwidths = static_cast<int>(request.n_bandwidths());
  auto run = [&](const auto& computation) {
    computation.run([&](index_t row, const double* origin, const double* sum) {
      for (int l = 0; l < request.n_labels; ++l)
        for (int b = 0; b < n_bandwidths; ++b, sum += request.n_columns) {
          const bool scaled = origin && !std::isinf(origin[l]);
          write(row, b, l, scaled ? -ln2 * computation.rate_of(l, b) * origin[l] : 0.0, sum);
        }
    });
  };
  if (traits(request.kernel).decay != Decay::compact) run(Computation<T, true>(request, execution));
  else run(Computation<T, false>(request, execution));
}

}  // namespace

template <class T>
void KernelSums<T>::logs(T* logs, const Execution& execution) const {
  const index_t n_bandwidths = this->n_bandwidths();
  with_scale<T>(*this, execution, [&](index_t row, int b, int l, double log_scale, const double* sum) {
    for (index_t c = 0; c < n_columns; ++c)
      logs[((row * n_bandwidths + b) * n_labels + l) * n_columns + c] = static_cast<T>(std::log(sum[c]) + log_scale);
  });
}

template <class T>
void KernelSums<T>::scaled(T* log_scale, T* sums, const Execution& execution) const {
  const index_t n_bandwidths = this->n_bandwidths();
  with_scale<T>(*this, execution, [&](index_t row, int b, int l, double scale, const double* sum) {
    const index_t cell = (row * n_bandwidths + b) * n_labels + l;
    log_scale[cell] = static_cast<T>(scale);
    for (index_t c = 0; c < n_columns; ++c) sums[cell * n_columns + c] = static_cast<T>(sum[c]);
  });
}

template <class T>
std::shared_ptr<const KernelPoints<T>> pack_points(MatrixView<T> points, const std::int64_t* labels, int n_labels,
                                                   const T* weights, index_t n_columns, const Execution& execution) {
  const bool with_product = !detail::TileArguments<T>(Kernel::gaussian, 1, points.cols, false).always_difference();
  const bool by_locality = points.cols <= detail::boxes_pay_to && points.rows > 4 * tile_width<T>;
  auto packed = std::make_shared<KernelPoints<T>>(points, 0.0, Grouping{labels, n_labels, nullptr, 1}, with_product,
                                                  by_locality, execution);
  if (weights) packed->keep_weights(weights, n_columns);
  return packed;
}

template struct KernelSums<float>;
template struct KernelSums<double>;
template std::shared_ptr<const KernelPoints<float>> pack_points(MatrixView<float>, const std::int64_t*, int, const float*, index_t,
                                                                const Execution&);
template std::shared_ptr<const KernelPoints<double>> pack_points(MatrixView<double>, const std::int64_t*, int, const double*,
                                                                 index_t, const Execution&);

}  // namespace spectralcls
