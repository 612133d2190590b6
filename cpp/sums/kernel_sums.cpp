#include "sums/kernel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "geometry/box.hpp"
#include "sums/block_sums.hpp"
#include "sums/partial_sums.hpp"
#include "sums/pruned_sums.hpp"
#include "sums/sum_plan.hpp"

namespace spectralcls {
namespace {

// Called once for each query with its row, the shifts (n_labels,) of its sums or nullptr, and its sums
// (n_labels, n_bandwidths, n_columns).
using Finish = std::function<void(index_t row, const double* shifts, const double* sums)>;

template <class T>
class Computation {
  using Plan = detail::SumPlan<T>;
  using Partial = detail::PartialSums<T>;
  using BlockSums = detail::BlockSums<T>;

 public:
  Computation(const KernelSums<T>& request, Form form, const Execution& execution)
      : request_(request), execution_(execution.for_work(operations(request))) {
    // Kernels that are positive everywhere need a scale, unless the sums are plain. The sums of compact kernels are
    // exactly zero if no point is in reach.
    const bool scaled = form != Form::plain && traits(request.kernel).decay != Decay::compact;
    detail::PruningRadius<T> radius(request, scaled, form == Form::logs);
    plan_ = detail::prune_if_it_pays(
        request.queries.rows,
        [&](bool prunes) {
          if (prunes) radius.weigh();
          return std::make_unique<Plan>(request, scaled, radius, prunes, execution_);
        },
        [&] { return detail::pruning_may_pay(request, radius); },
        [](const Plan& plan, const Range& places) {
          const auto sums = std::make_unique<BlockSums>(plan, places);
          const FlushSubnormals guard;
          detail::PrunedSums<T> pruned(plan, places, *sums);
          pruned.run(0);
          return detail::TrialCost{pruned.cost(), pruned.cost_of_all()};
        });
    n_chunks_ = length(plan_->chunks);
    n_parts_ = plan_->n_parts;
  }

  // Fills C-ordered arrays: `sums` and, for scaled sums, `log_scale`.
  void write(Form form, T* log_scale, T* sums) const {
    const auto& r = request_;
    const index_t n = r.n_bandwidths();
    run([&](index_t row, const double* shift, const double* sum) {
      for (int l = 0; l < r.n_labels; ++l)
        for (index_t b = 0; b < n; ++b, sum += r.n_columns) {
          const index_t cell = (row * n + b) * r.n_labels + l;
          const double scale = shift && !std::isinf(shift[l]) ? -ln2 * plan_->of(l).rates[b] * shift[l] : 0.0;
          if (form == Form::scaled) log_scale[cell] = static_cast<T>(scale);
          for (index_t c = 0; c < r.n_columns; ++c)
            sums[cell * r.n_columns + c] = static_cast<T>(form == Form::logs ? std::log(sum[c]) + scale : sum[c]);
        }
    });
  }

  bool uses_tolerance() const { return request_.tolerance() > 0 && plan_->packed->filtered(); }

 private:
  void run(const Finish& finish) const {
    std::vector<Partial> partials(n_parts_ > 1 ? n_chunks_ * n_parts_ : 0);
    for_each_chunk(n_chunks_ * n_parts_, execution_, [&](index_t task, Checkpoint& checkpoint) {
      const Range& chunk = plan_->chunks[task / n_parts_];
      const auto sums = std::make_unique<BlockSums>(*plan_, chunk);
      const FlushSubnormals guard;  // not earlier: queries may be subnormal until they are scaled
      sum_chunk(chunk, task % n_parts_, *sums, checkpoint);
      if (n_parts_ == 1) finish_chunk(chunk, sums->partial(), finish);
      else partials[task] = std::move(sums->partial());
    });
    if (n_parts_ == 1) return;
    // Parts are added in a fixed order, so the result does not depend on which threads computed them.
    for_each_chunk(n_chunks_, execution_, [&](index_t chunk, Checkpoint&) {
      Partial& total = partials[chunk * n_parts_];
      for (index_t part = 1; part < n_parts_; ++part) total.add(partials[chunk * n_parts_ + part]);
      finish_chunk(plan_->chunks[chunk], total, finish);
    });
  }

  static double operations(const KernelSums<T>& request) {
    const auto per_pair = request.points.cols + 12 * request.n_bandwidths() + request.n_columns;
    return static_cast<double>(request.queries.rows) * static_cast<double>(request.points.rows) *
           static_cast<double>(per_pair);
  }

  void sum_chunk(const Range& chunk, index_t part, BlockSums& sums, Checkpoint& checkpoint) const {
    if (plan_->packed->filtered()) return detail::PrunedSums<T>(*plan_, chunk, sums).run(checkpoint);
    const std::vector<T> boxes = query_boxes(sums.queries());
    const auto n_blocks = length(plan_->blocks);
    const index_t first = n_blocks * part / n_parts_, last = n_blocks * (part + 1) / n_parts_;
    for (index_t b = first; b < last; ++b) {
      const auto block = plan_->blocks[b];
      for (index_t q = 0; q < sums.queries().n_blocks; ++q) {
        for (index_t t = block.begin; t < block.end;) {  // a piece is a run of tiles of one label
          index_t end = t;
          while (end < block.end && plan_->points->tiles()[end].label == plan_->points->tiles()[t].label) ++end;
          sum_piece(sums, q, boxes, t, end);
          t = end;
        }
      }
      checkpoint();
    }
  }

  // Adds the tiles [begin, end) of one label to the sums of one block of query rows.
  void sum_piece(BlockSums& sums, index_t q, const std::vector<T>& boxes, index_t begin, index_t end) const {
    sums.open(q);
    sums.select(plan_->points->tiles()[begin].label);
    for (index_t t = begin; t < end; ++t) {
      const Tile& tile = plan_->points->tiles()[t];
      if (sums.leaves_out_whole(tile)) continue;
      if (!boxes.empty() && out_of_reach(boxes.data() + q * 2 * plan_->points->dimension(), tile, sums)) continue;
      sums.add(tile, false);
    }
    sums.flush();
  }

  // Returns the bounding boxes of the query blocks (lower corner, then upper corner) if the points have boxes.
  std::vector<T> query_boxes(const PackedQueries<T>& queries) const {
    if (plan_->points->tiles().empty() || !plan_->points->box(plan_->points->tiles().front())) return {};
    return boxes_of_blocks(queries);
  }

  // Returns whether all kernel values between two boxes are zero (beyond a compact support) or negligible.
  bool out_of_reach(const T* query_box, const Tile& tile, const BlockSums& sums) const {
    const double squared = squared_gap(query_box, plan_->points->box(tile), plan_->points->dimension());
    const double lowest_rate = plan_->of(tile.label).lowest_rate;
    const double least = argument(request_.kernel, squared);
    if (plan_->compact) return least * lowest_rate > 1;
    return (least - sums.farthest_shift()) * lowest_rate > plan_->negligible;
  }

  void finish_chunk(const Range& chunk, Partial& partial, const Finish& finish) const {
    for (index_t r = 0; r < chunk.size(); ++r) finish(plan_->rows[chunk.begin + r], partial.shifts(r), partial.sums(r));
  }

  const KernelSums<T>& request_;
  const Execution execution_;
  std::unique_ptr<const Plan> plan_;
  index_t n_chunks_, n_parts_;
};

}  // namespace

template <class T>
void KernelSums<T>::compute(Form form, T* log_scale, T* sums, const Execution& execution) const {
  Computation<T>(*this, form, execution).write(form, log_scale, sums);
}

template <class T>
bool KernelSums<T>::within_tolerance(T* log_scale, T* sums, const Execution& execution) const {
  const Computation<T> computation(*this, Form::scaled, execution);
  if (computation.uses_tolerance()) computation.write(Form::scaled, log_scale, sums);
  return computation.uses_tolerance();
}

template <class T>
std::shared_ptr<const PackedPointsCache<T>> pack_points(MatrixView<T> points, const std::int64_t* labels, int n_labels,
                                                        const T* weights, index_t n_columns) {
  const bool with_product = !detail::TileArguments<T>::always_difference(Kernel::gaussian, points.cols);
  const bool by_locality = points.cols <= detail::boxes_pay_to && points.rows > 4 * tile_width<T>;
  return std::make_shared<PackedPointsCache<T>>(points, Grouping{labels, n_labels, nullptr, 1}, weights, n_columns,
                                                with_product, by_locality);
}

template struct KernelSums<float>;
template struct KernelSums<double>;
template std::shared_ptr<const PackedPointsCache<float>> pack_points(MatrixView<float>, const std::int64_t*, int,
                                                                     const float*, index_t);
template std::shared_ptr<const PackedPointsCache<double>> pack_points(MatrixView<double>, const std::int64_t*, int,
                                                                      const double*, index_t);

}  // namespace spectralcls
