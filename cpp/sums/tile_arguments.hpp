// What a kernel sees of a tile: the squared distances in the cheapest form that is accurate enough for it, or their
// roots.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/distance_tile.hpp"
#include "sums/profile.hpp"

namespace spectralcls::detail {

template <class T>
class TileArguments {
 public:
  // highest_rate: of the bandwidths. logarithms: errors count relative to the logarithm of a kernel value.
  TileArguments(Kernel kernel, double highest_rate, index_t dimension, bool logarithms)
      : decay_(traits(kernel).decay),
        singular_(traits(kernel).at_zero == 0),
        logarithms_(logarithms),
        rate_(highest_rate * ln2),
        always_difference_(always_difference(kernel, dimension)) {}

  // Compact kernels use differences: which points lie inside the support must not hang on cancellation.
  static bool always_difference(Kernel kernel, index_t dimension) {
    return traits(kernel).decay == Decay::compact || dimension <= 3;
  }
  bool always_difference() const { return always_difference_; }
  // Whether some tile may; the largest norms of all queries and points.
  bool needs_difference(double query_norm, double point_norm) const {
    return decay_ != Decay::gaussian || always_difference_ || !product_suffices<T>(query_norm, point_norm, rate_);
  }

  // leave_out() makes distances in `out` infinite.
  template <class LeaveOut>
  void measure(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedPoints<T>& points,
               const Tile& tile, TileBuffer<T>& out, LeaveOut&& leave_out) const {
    auto in_form = [&](DistanceForm form) {
      squared_distances(form, queries, block, n_rows, points, tile, out);
      leave_out();
    };
    const double query_norm = queries.largest_norm[static_cast<std::size_t>(block)];
    if (product_suffices_for(query_norm, tile.largest_norm)) {
      in_form(DistanceForm::product);
    } else if (const double least = least_accurate(query_norm + tile.largest_norm); std::isinf(least)) {
      in_form(DistanceForm::difference);
    } else {
      in_form(DistanceForm::product);
      if (!correct(queries, block, n_rows, points, tile, static_cast<T>(least), out, leave_out))
        in_form(DistanceForm::difference);
    }
    for (index_t r = 0; r < n_rows; ++r) finish(out.value[r], tile.n_vectors);
  }

  // Makes arguments of a row of squared distances.
  void finish(T* row, int n_vectors) const {
    if (decay_ != Decay::exponential) return;
    for (int v = 0; v < n_vectors; ++v) {
      Vec<T> a = square_root<T>(load(row + v * lanes<T>));
      // A point at no distance adds nothing to a sum, and is not the nearest one that logarithms are relative to.
      if (singular_) a = a > Vec<T>{} ? a : broadcast<T>(std::numeric_limits<T>::infinity());
      store(row + v * lanes<T>, a);
    }
  }

 private:
  // With |x - q|^2 >= |q|^2 / 4 the norms are at most 13 times the distance: it loses less than four bits.
  static constexpr T least_distance = T(0.25);

  // An error e of a squared distance D is one of rate e in the Gaussian's exponent, whatever D is.
  bool product_suffices_for(double query_norm, double point_norm) const {
    return !always_difference_ && decay_ == Decay::gaussian &&
           safe_form<T>(query_norm, point_norm, rate_) == DistanceForm::product;
  }

  // The squared distance from which on the product form is accurate enough where it does not cancel, infinite if that
  // is too far; `sum`: of the largest norms. A logarithm is as accurate as the distances it comes from are relative to
  // themselves, and so is a kernel with a factor: it is enough that they do not cancel, whatever the rate.
  double least_accurate(double sum) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (always_difference_) return never;
    if (logarithms_) return 0;
    if (decay_ == Decay::gaussian) return never;
    // An error e of D is one of rate e / (2 sqrt(D)) of rate sqrt(D). D is at most twice the sum of the norms.
    const double share = rate_ * sum / (2 * largest_exponent<T>), least = share * share;
    return least > 2 * sum ? never : least;
  }

  // Puts differences in the place of what the product form is too coarse for, row by row; false if those are most.
  template <class LeaveOut>
  bool correct(const PackedQueries<T>& queries, index_t block, index_t n_rows, const PackedPoints<T>& points,
               const Tile& tile, T least, TileBuffer<T>& out, LeaveOut&& leave_out) const {
    const T* norms = queries.block_norms(block);
    T limits[tile_rows];
    bool coarse[tile_rows];
    index_t n_coarse = 0;
    for (index_t r = 0; r < n_rows; ++r) {
      limits[r] = std::max(norms[r] * least_distance, least);
      coarse[r] = any_less<T>(row_minimum<T>(out.value[r], tile.n_vectors), broadcast<T>(limits[r]));
      n_coarse += coarse[r];
    }
    if (2 * n_coarse > n_rows) return false;
    for (index_t r = 0; r < n_rows; ++r)
      if (coarse[r]) differences_below(queries, block, r, points, tile, limits[r], out);
    if (n_coarse > 0) leave_out();
    return true;
  }

  Decay decay_;
  bool singular_, logarithms_;
  double rate_;  // in units of the natural logarithm
  bool always_difference_;
};

}  // namespace spectralcls::detail
