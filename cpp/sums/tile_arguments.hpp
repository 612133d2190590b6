// The arguments of the kernel for a tile: squared distances, or distances, computed in the cheapest form that is
// accurate enough.
//
// The rounding error of the product form |q|^2 + |x|^2 - 2 q.x is at most r eps (|q|^2 + |x|^2), with eps = 2^-digits
// and r = roundings_of_products(d) for d features; copies of one feature are the worst case. The exponent of a Gaussian
// is then off by at most `rate` times this error, which is negligible for wide kernels. Otherwise, the form is used
// only for squared distances above a fraction of |q|^2. The fraction grows with r, so the bound on the relative error
// is the same for every d. The few smaller distances are computed from differences. docs/guide/numerics.md states the
// tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/distance_tile.hpp"
#include "geometry/query_chunks.hpp"
#include "sums/packed_points.hpp"
#include "sums/profile.hpp"

namespace spectralcls::detail {

template <class T>
class TileArguments {
 public:
  // `highest_rate` is the highest rate of all bandwidths.
  TileArguments(Kernel kernel, double highest_rate, index_t dimension)
      : decay_(traits(kernel).decay),
        singular_(traits(kernel).at_zero == 0),
        rate_(highest_rate * ln2),
        always_difference_(always_difference(kernel, dimension)),
        few_features_(dimension <= near_pairs_are_common_to),
        roundings_(roundings_of_products(static_cast<double>(dimension))),
        share_(static_cast<T>(least_share(roundings_))) {}

  // Compact kernels use differences, because cancellation must not decide which points are inside the support.
  static bool always_difference(Kernel kernel, index_t dimension) {
    return traits(kernel).decay == Decay::compact || dimension <= differences_cost_nothing_to;
  }
  bool always_difference() const { return always_difference_; }
  // Returns whether most tiles need differences. `near` means that only tiles near the queries are computed. norms()
  // returns the largest squared norm of a query plus that of a point.
  template <class Norms>
  bool prefers_differences(bool near, Norms&& norms) const {
    return always_difference_ || ((near || few_features_) && !product_suffices(norms()));
  }

  // Remembers that recent tiles had many small distances, as in clusters. The next tiles are then computed from
  // differences directly, and products are tried again from time to time.
  class Memory {
   public:
    bool use_differences() { return left_ > 0 && left_-- > 0; }
    void tried(bool products) {
      run_ = products ? 0 : std::min(std::max(2 * run_, 1), 32);
      left_ = run_ - 1;  // a single tile, such as the query's own, predicts nothing about the next
    }

   private:
    int run_ = 0, left_ = 0;
  };

  // Computes the arguments of a block of queries for a tile. leave_out() must set the distances of excluded pairs in
  // `out` to infinity.
  template <class LeaveOut>
  void measure(const QueryChunk<T>& queries, index_t block, const PackedPoints<T>& points, const Tile& tile,
               TileBuffer<T>& out, Memory& memory, LeaveOut&& leave_out) const {
    const index_t n_rows = queries.size_of(block);
    const double norms = queries.packed.largest_norm[block] + tile.largest_norm;
    if (!always_difference_ && product_suffices(norms))
      squared_distances(DistanceForm::product, queries.packed, block, n_rows, points.tiles(), tile, out);
    else if (always_difference_ || few_features_ || memory.use_differences())
      squared_distances(DistanceForm::difference, queries.packed, block, n_rows, points.with_differences(), tile, out);
    else correct_products(queries, block, n_rows, points, tile, out, memory);
    leave_out();
    for (index_t r = 0; r < n_rows; ++r) finish(out.value[r], tile.n_vectors);
  }

  // Turns a row of squared distances into arguments.
  void finish(T* row, int n_vectors) const {
    if (decay_ != Decay::exponential) return;
    for (int v = 0; v < n_vectors; ++v) {
      Vec<T> a = square_root<T>(load(row + v * lanes<T>));
      // A point at distance zero adds nothing to a singular kernel's sum and must not become its shift.
      if (singular_) a = a > Vec<T>{} ? a : broadcast<T>(std::numeric_limits<T>::infinity());
      store(row + v * lanes<T>, a);
    }
  }

 private:
  static constexpr index_t differences_cost_nothing_to = 3, near_pairs_are_common_to = 6;  // in features
  // Largest error of the exponent of a Gaussian, in eps. An error of 1e-5 in float is 168 eps, one of 1e-12 in double
  // 9007 eps.
  static constexpr double roundings_of_exponents = sizeof(T) == 4 ? 150 : 8000;
  static constexpr double roundings_of_distances = 80;  // largest relative error of squared distances, in eps
  // Up to this many pairs of a panel cost less one by one than the differences of the whole panel.
  static constexpr int pairs_to_a_panel = 3;

  // Returns r, the error of the product form with d features in units of eps (|q|^2 + |x|^2), measured for up to 1000
  // features.
  static double roundings_of_products(double d) {
    return 3 + (std::min<double>(d, summed_in_turn<T>) + std::min(d, 1000.0) / summed_in_turn<T>) / 5;
  }
  // Returns the ratio D / |q|^2 at which the error r eps (|q|^2 + |x|^2) of the squared distance D reaches its limit,
  // roundings_of_distances eps D, if |x| has its largest possible value, |q| + sqrt(D).
  static double least_share(double r) {
    const double root = (r + std::sqrt(r * (2 * roundings_of_distances - r))) / (roundings_of_distances - r);
    return root * root;
  }

  // `norms` is the largest squared norm of a query plus that of a point.
  bool product_suffices(double norms) const {
    return decay_ == Decay::gaussian && rate_ * norms * roundings_ <= roundings_of_exponents;
  }

  // Computes all distances in the product form. Those below `share_` times the query's squared norm are then recomputed
  // from differences: one by one if they are few, otherwise by whole panels.
  void correct_products(const QueryChunk<T>& queries, index_t block, index_t n_rows, const PackedPoints<T>& points,
                        const Tile& tile, TileBuffer<T>& out, Memory& memory) const {
    T floors[tile_rows];
    for (int r = 0; r < tile_rows; ++r) floors[r] = queries.packed.block_norms(block)[r] * share_;
    const unsigned panels = products_above(queries.packed, block, n_rows, points.tiles(), tile, floors, out);
    const int n_panels = (tile.n_vectors + panel_vectors - 1) / panel_vectors;
    memory.tried(2 * __builtin_popcount(panels) <= n_panels);
    if (panels == 0) return;
    auto for_each_small = [&](auto&& body) {
      for (unsigned left = panels; left != 0; left &= left - 1) {
        const int first = __builtin_ctz(left) * panel_vectors, last = std::min(first + panel_vectors, tile.n_vectors);
        for (index_t r = 0; r < n_rows; ++r)
          for (int v = first; v < last; ++v)
            if (const unsigned bits = less_bits<T>(load(out.value[r] + v * lanes<T>), broadcast<T>(floors[r])))
              body(r, v * lanes<T>, bits);
      }
    };
    int n_small = 0;
    for_each_small([&](index_t, index_t, unsigned bits) { n_small += __builtin_popcount(bits); });
    if (n_small > pairs_to_a_panel * __builtin_popcount(panels))
      return differences_in_panels(queries.packed, block, n_rows, points.with_differences(), tile, panels, out);
    const KeepSubnormals guard;  // the coordinates are unscaled and may be subnormal
    for_each_small([&](index_t r, index_t first, unsigned bits) {
      for (; bits != 0; bits &= bits - 1) {
        const index_t column = first + __builtin_ctz(bits);
        out.value[r][column] = points.squared_distance(queries.row(block, r), tile.first + column);
      }
    });
  }

  Decay decay_;
  bool singular_;
  double rate_;  // highest rate times ln(2)
  bool always_difference_, few_features_;
  double roundings_;
  T share_;
};

}  // namespace spectralcls::detail
