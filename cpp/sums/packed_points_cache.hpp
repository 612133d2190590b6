// Packed points, reused by many calls.
#pragma once

#include <memory>

#include "sums/packed_points.hpp"

namespace spectralcls {

// The same points, packed in two orders, each at the first call that needs it. Calls may come from several threads.
template <class T>
class PackedPointsCache {
 public:
  // `weights` have n_columns columns, or are nullptr.
  PackedPointsCache(MatrixView<T> points, const Grouping& grouping, const T* weights, index_t n_columns,
                    bool with_product, bool by_locality)
      : points_(points),
        grouping_(grouping),
        weights_(weights),
        n_columns_(n_columns),
        with_product_(with_product),
        by_locality_(by_locality) {}

  // Returns whether the scale, which is that of the points, suits these bandwidths too: points beyond the limit must be
  // out of reach of the kernel, and the squares of the distances that matter must not underflow.
  bool suits(const Lengths& bandwidths, const Execution& execution) const {
    have_geometry_([&] { geometry_ = Geometry::of(points_, {}, execution); });
    return bandwidths.largest <= geometry_.scale * 0x1p20 && geometry_.scale <= most_scales<T> * bandwidths.least;
  }

  // Returns the points packed for all pairs. suits() must have been called.
  std::shared_ptr<const PackedPoints<T>> plain(const Execution& execution) const {
    have_plain_([&] {
      plain_ = with_weights(
          std::make_shared<PackedPoints<T>>(points_, geometry_, grouping_, with_product_, by_locality_, execution));
    });
    return plain_;
  }
  // Returns the points packed in an order in which pairs can be pruned.
  std::shared_ptr<const PackedPoints<T>> for_pruning(const Execution& execution) const {
    have_pruning_([&] {
      pruning_ =
          with_weights(std::make_shared<PackedPoints<T>>(points_, geometry_, grouping_, with_product_, execution));
    });
    return pruning_;
  }
  bool has_pruning() const { return have_pruning_.done(); }

 private:
  std::shared_ptr<const PackedPoints<T>> with_weights(std::shared_ptr<PackedPoints<T>> packed) const {
    if (weights_) packed->keep_weights(weights_, n_columns_);
    return packed;
  }

  MatrixView<T> points_;
  Grouping grouping_;
  const T* weights_;
  index_t n_columns_;
  bool with_product_, by_locality_;
  mutable Geometry geometry_;
  mutable Once have_geometry_, have_plain_, have_pruning_;
  mutable std::shared_ptr<const PackedPoints<T>> plain_, pruning_;
};

}  // namespace spectralcls
