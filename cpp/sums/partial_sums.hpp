// The sums of one chunk of queries over one part of the points, in double. The sums of several parts can be added.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "sums/sum_plan.hpp"

namespace spectralcls::detail {

// A cell holds the sums of one row for one label. With a scale, these are 2^(-rate shift) times the stored values. The
// shift is an argument of the kernel, the same for all bandwidths.
template <class T>
class PartialSums {
 public:
  PartialSums() = default;
  PartialSums(const SumPlan<T>& plan, index_t rows)
      : plan_(&plan), per_cell_(plan.n_bandwidths * plan.request.n_columns) {
    const auto cells = rows * plan.request.n_labels;
    if (plan.scaled) shifts_.assign(cells, std::numeric_limits<double>::infinity());
    sums_.assign(cells * per_cell_, 0.0);
  }

  // Returns the shifts of the rows from `row` on, nullptr without a scale.
  const double* shifts(index_t row) const {
    return shifts_.empty() ? nullptr : shifts_.data() + row * plan_->request.n_labels;
  }
  // Returns the sums of the rows from `row` on; of the first row, from `label` on.
  double* sums(index_t row, index_t label = 0) {
    return sums_.data() + (row * plan_->request.n_labels + label) * per_cell_;
  }

  // Rescales the sums of a cell to the shift `to` if it is smaller than the current one.
  void lower_shift(index_t row, index_t label, double to) { lower_shift(row * plan_->request.n_labels + label, to); }

  // Adds another part. This may rescale both.
  void add(PartialSums& other) {
    for (index_t cell = 0; cell * per_cell_ < length(sums_); ++cell) {
      if (!shifts_.empty()) {
        if (std::isinf(other.shift(cell))) continue;
        lower_shift(cell, other.shift(cell));
        other.lower_shift(cell, shift(cell));
      }
      for (index_t i = cell * per_cell_; i < (cell + 1) * per_cell_; ++i) sums_[i] += other.sums_[i];
    }
  }

 private:
  double& shift(index_t cell) { return shifts_[cell]; }

  void lower_shift(index_t cell, double to) {
    if (to >= shift(cell)) return;
    double* sum = sums_.data() + cell * per_cell_;
    if (!std::isinf(shift(cell)))  // otherwise there are no sums yet
      plan_->of(static_cast<int>(cell % plan_->request.n_labels)).for_each_shift(to - shift(cell), [&](double factor) {
        for (index_t c = 0; c < plan_->request.n_columns; ++c) *sum++ *= factor;
      });
    shift(cell) = to;
  }

  const SumPlan<T>* plan_ = nullptr;
  index_t per_cell_ = 0;
  std::vector<double> shifts_, sums_;
};

}  // namespace spectralcls::detail
