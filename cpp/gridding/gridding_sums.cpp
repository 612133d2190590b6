#include "gridding/gridding_sums.hpp"

#include <iterator>
#include <utility>

namespace spectralcls {
namespace {

template <int D, int Width>
class GriddingSumsOf final : public GriddingSums {
  using Patch = GridPatch<D, Width, gridding_box[D]>;
  using Stencil = typename Patch::Stencil;

 public:
  GriddingSumsOf(const ApproximateSums& request, const SourceIndex& sources, const CellGrid& grid, double spacing)
      : request_(request),
        index_(sources),
        grid_(grid),
        per_unit_((gridding_box[D] >> cells_per_tile_log2[D]) / grid.side),
        n_columns_(static_cast<int>(request.n_columns)),
        n_plain_(request.n_labels * n_columns_),
        patch_(spacing, n_plain_ + (sources.has_negative_weights() ? n_columns_ : 0)),
        norm_(std::pow(spacing * std::sqrt(2 / 3.14159265358979323846), D)) {}

  void spread(const Cell& corner, const CellBox& box, Checkpoint& checkpoint) override {
    corner_ = corner;
    for (int k = 0; k < D; ++k) first_[k] = grid_.origin[k] + corner[k] * grid_.side;
    const bool negative = index_.has_negative_weights();
    if (negative)
      for (int c = 0; c < n_columns_; ++c) patch_.clear(n_plain_ + c);
    active_.clear();
    is_active_.assign(request_.n_labels, false);
    for (int l = 0; l < request_.n_labels; ++l) {
      if (index_.labels()[l].tree.count(box) == 0) continue;
      active_.push_back(l);
      is_active_[l] = true;
      for (int c = 0; c < n_columns_; ++c) patch_.clear(l * n_columns_ + c);
      index_.labels()[l].tree.visit(box, [&](index_t begin, index_t end) {
        checkpoint();
        spread(l, begin, end);
      });
    }
  }

  void gather(const KeyedRow* rows, index_t n_rows, double* sums, Checkpoint& checkpoint) override {
    for (index_t begin = 0; begin < n_rows; begin += batch) {
      if (begin % 1024 == 0) checkpoint();
      gather(rows + begin, std::min(batch, n_rows - begin), sums + begin * (n_plain_ + n_columns_));
    }
  }

  void open(const KeyedRow* rows, index_t n_rows) override {
    double at[D];
    for (index_t i = 0; i < n_rows; ++i) {
      for (int k = 0; k < D; ++k) at[k] = position(k, request_.queries.row(rows[i].row)[k]);
      targets_[i] = patch_.target_stencil(at);
    }
  }

  double sum(index_t query, index_t channel) const override {
    return is_active_[channel / n_columns_] ? norm_ * patch_.gather(targets_[query], static_cast<int>(channel)) : 0.0;
  }

  void bound(const Cell& cell, double* sums) const override {
    constexpr int side = gridding_box[D] >> cells_per_tile_log2[D];
    double at[D];
    for (int k = 0; k < D; ++k) at[k] = Width / 2 + side * (cell[k] - corner_[k]);
    std::fill_n(sums, n_plain_, 0.0);
    for (const int l : active_)
      for (int c = 0; c < n_columns_; ++c)
        sums[l * n_columns_ + c] = norm_ * patch_.bound(at, side, l * n_columns_ + c);
  }

 private:
  // Converts a coordinate to grid units from the first point of the patch. The corner of the tile is subtracted first,
  // so the rounding error is relative to the size of the tile, however far the data are from zero.
  double position(int k, double coordinate) const { return (coordinate - first_[k]) * per_unit_ + Width / 2; }

  void spread(int label, index_t begin, index_t end) {
    const Sources& sources = index_.labels()[label];
    const bool negative = index_.has_negative_weights();
    double at[D];
    for (index_t p = begin; p < end; ++p) {
      for (int k = 0; k < D; ++k) at[k] = position(k, sources.coordinates[k * sources.size() + p]);
      if (!Patch::reaches(at)) continue;
      const Stencil stencil = patch_.stencil(at);
      for (int c = 0; c < n_columns_; ++c) {
        const double weight = sources.weights[p * n_columns_ + c];
        patch_.spread(stencil, weight, label * n_columns_ + c);
        if (negative) patch_.spread(stencil, std::abs(weight), n_plain_ + c);
      }
    }
  }

  // Computes the sums of one batch of neighboring queries. The part of the patch that they read stays in the
  // first-level cache.
  void gather(const KeyedRow* rows, index_t n_rows, double* out) {
    const int n_outputs = n_plain_ + n_columns_;
    std::fill_n(out, n_rows * n_outputs, 0.0);
    open(rows, n_rows);
    auto gather_channel = [&](int channel) {
      for (index_t i = 0; i < n_rows; ++i) out[i * n_outputs + channel] = patch_.gather(targets_[i], channel);
    };
    for (const int l : active_)
      for (int c = 0; c < n_columns_; ++c) gather_channel(l * n_columns_ + c);
    if (index_.has_negative_weights())
      for (int c = 0; c < n_columns_; ++c) gather_channel(n_plain_ + c);
    for (index_t i = 0; i < n_rows; ++i) finish(rows[i].row, targets_[i], out + i * n_outputs);
  }

  // Subtracts the point that a query leaves out, derives the sums with |weight| from the plain sums if no weight is
  // negative, and multiplies all sums by `norm_`.
  void finish(index_t query, const Stencil& target, double* out) const {
    const bool negative = index_.has_negative_weights();
    double* absolute = out + n_plain_;
    const index_t left_out = request_.excluded ? request_.excluded[query] : -1;
    if (left_out >= 0 && index_.label(left_out) >= 0) {
      double at[D];
      for (int k = 0; k < D; ++k) at[k] = position(k, request_.points.row(left_out)[k]);
      const double share = Patch::reaches(at) ? Patch::overlap(patch_.stencil(at), target) : 0.0;
      const int label = index_.label(left_out);
      for (int c = 0; c < n_columns_; ++c) {
        const double weight = request_.weights ? request_.weights[left_out * n_columns_ + c] : 1.0;
        out[label * n_columns_ + c] -= weight * share;
        if (negative) absolute[c] -= std::abs(weight) * share;
      }
    }
    if (!negative)
      for (int j = 0; j < n_plain_; ++j) absolute[j % n_columns_] += out[j];
    for (int j = 0; j < n_plain_ + n_columns_; ++j) out[j] *= norm_;
  }

  const ApproximateSums& request_;
  const SourceIndex& index_;
  const CellGrid& grid_;
  const double per_unit_;  // grid points per unit of the coordinates
  const int n_columns_, n_plain_;
  Patch patch_;
  const double norm_;
  std::vector<Stencil, AlignedAllocator<Stencil>> targets_{batch};
  Cell corner_{};            // of the tile
  double first_[D];          // coordinates of this corner
  std::vector<int> active_;  // labels with points near the tile
  std::vector<char> is_active_;
};

template <int D, std::size_t... I>
std::unique_ptr<GriddingSums> create(const ApproximateSums& request, const SourceIndex& sources, const CellGrid& grid,
                                     const GriddingAccuracy& accuracy, std::index_sequence<I...>) {
  std::unique_ptr<GriddingSums> made;
  ((accuracy.width == gridding_widths[I]
        ? void(made = std::make_unique<GriddingSumsOf<D, gridding_widths[I]>>(request, sources, grid, accuracy.spacing))
        : void()),
   ...);
  return made;
}

}  // namespace

std::unique_ptr<GriddingSums> GriddingSums::create(const ApproximateSums& request, const SourceIndex& sources,
                                                   const CellGrid& grid, const GriddingAccuracy& accuracy) {
  constexpr auto widths = std::make_index_sequence<std::size(gridding_widths)>{};
  switch (request.points.cols) {
    case 1: return spectralcls::create<1>(request, sources, grid, accuracy, widths);
    case 2: return spectralcls::create<2>(request, sources, grid, accuracy, widths);
    default: return spectralcls::create<3>(request, sources, grid, accuracy, widths);
  }
}

}  // namespace spectralcls
