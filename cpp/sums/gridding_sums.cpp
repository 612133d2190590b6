#include "sums/gridding_sums.hpp"

#include <stdexcept>
#include <type_traits>

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
        cell_points_(gridding_box[D] >> cells_per_tile_log2[D]),
        n_columns_(static_cast<int>(request.n_columns)),
        n_plain_(request.n_labels * n_columns_),
        patch_(spacing, n_plain_ + (sources.has_negative_weights() ? n_columns_ : 0)),
        norm_(std::pow(spacing * std::sqrt(2 / 3.14159265358979323846), D)) {}

  void evaluate(const KeyedRow* rows, index_t n_rows, const Cell& corner, const CellBox& box, double* sums,
                Checkpoint& checkpoint) override {
    corner_ = corner;
    patch_.clear();
    for (int l = 0; l < request_.n_labels; ++l)
      index_.labels()[l].tree.visit(box, [&](index_t begin, index_t end) {
        checkpoint();
        spread(l, begin, end);
      });
    for (index_t i = 0; i < n_rows; ++i) {
      if (i % 1024 == 0) checkpoint();
      gather(rows[i].row, sums + i * (n_plain_ + n_columns_));
    }
  }

 private:
  // Coordinate -> grid units from the patch's first point.
  double position(int k, double coordinate) const {
    return (coordinate - grid_.origin[k]) / (grid_.side / cell_points_) - corner_[k] * double(cell_points_) + Width / 2;
  }

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

  void gather(index_t query, double* out) const {
    double at[D];
    for (int k = 0; k < D; ++k) at[k] = position(k, request_.queries.row(query)[k]);
    const Stencil target = patch_.target_stencil(at);
    const bool negative = index_.has_negative_weights();
    for (int j = 0; j < n_plain_; ++j) out[j] = patch_.gather(target, j);
    double* absolute = out + n_plain_;
    for (int c = 0; c < n_columns_; ++c) absolute[c] = negative ? patch_.gather(target, n_plain_ + c) : 0.0;

    const index_t left_out = request_.excluded ? request_.excluded[query] : -1;
    if (left_out >= 0 && index_.label(left_out) >= 0) {
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
  const int cell_points_;  // grid points along a cell
  const int n_columns_, n_plain_;
  Patch patch_;
  const double norm_;
  Cell corner_{};
};

template <int D>
std::unique_ptr<GriddingSums> create(const ApproximateSums& request, const SourceIndex& sources, const CellGrid& grid,
                                     const GriddingAccuracy& accuracy) {
  static_assert(sizeof gridding_widths / sizeof *gridding_widths == 4, "one case per width");
  const auto make = [&](auto width) -> std::unique_ptr<GriddingSums> {
    return std::make_unique<GriddingSumsOf<D, decltype(width)::value>>(request, sources, grid, accuracy.spacing);
  };
  switch (accuracy.width) {
    case gridding_widths[0]: return make(std::integral_constant<int, gridding_widths[0]>{});
    case gridding_widths[1]: return make(std::integral_constant<int, gridding_widths[1]>{});
    case gridding_widths[2]: return make(std::integral_constant<int, gridding_widths[2]>{});
    case gridding_widths[3]: return make(std::integral_constant<int, gridding_widths[3]>{});
  }
  throw std::logic_error("no grid of this width");
}

}  // namespace

std::unique_ptr<GriddingSums> GriddingSums::create(const ApproximateSums& request, const SourceIndex& sources,
                                                   const CellGrid& grid, const GriddingAccuracy& accuracy) {
  switch (request.points.cols) {
    case 1: return spectralcls::create<1>(request, sources, grid, accuracy);
    case 2: return spectralcls::create<2>(request, sources, grid, accuracy);
    case 3: return spectralcls::create<3>(request, sources, grid, accuracy);
  }
  throw std::logic_error("grids have one to three dimensions");
}

}  // namespace spectralcls
