// The kernel's arguments of a tile: squared distances, or their roots, in the cheapest form that is accurate enough.
//
// The product form |q|^2 + |x|^2 - 2 q.x is off by up to r roundings of |q|^2 + |x|^2, those of copies of one feature
// most. A Gaussian's exponent is then off by `rate` times that, which is nothing if the kernel is wide. Otherwise the
// form is used for distances above a share of |q|^2 that grows with r, so that they have the same relative error for
// every d; the few smaller ones are computed from differences. docs/guide/numerics.md states what is allowed.
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
  // highest_rate: of the bandwidths.
  TileArguments(Kernel kernel, double highest_rate, index_t dimension)
      : decay_(traits(kernel).decay),
        singular_(traits(kernel).at_zero == 0),
        rate_(highest_rate * ln2),
        always_difference_(always_difference(kernel, dimension)),
        few_features_(dimension <= near_pairs_are_common_to),
        roundings_(roundings_of_products(static_cast<double>(dimension))),
        share_(static_cast<T>(least_share(roundings_))) {}

  // Compact kernels use differences: cancellation must not decide which points lie inside the support.
  static bool always_difference(Kernel kernel, index_t dimension) {
    return traits(kernel).decay == Decay::compact || dimension <= differences_cost_nothing_to;
  }
  bool always_difference() const { return always_difference_; }
  // Whether most tiles need differences, those of points that lie near the queries if `near`; norms(): the largest of
  // queries and points together.
  template <class Norms>
  bool prefers_differences(bool near, Norms&& norms) const {
    return always_difference_ || ((near || few_features_) && !product_suffices(norms()));
  }

  // Where tile after tile holds many small distances, as those of clusters do, all are computed from differences at
  // once, but for a trial from time to time.
  class Memory {
   public:
    bool use_differences() { return left_ > 0 && left_-- > 0; }
    void tried(bool products) {
      run_ = products ? 0 : std::min(std::max(2 * run_, 1), 32);
      left_ = run_ - 1;  // a single tile, such as that of the query itself, tells nothing about the next
    }

   private:
    int run_ = 0, left_ = 0;
  };

  // leave_out() makes distances in `out` infinite.
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
  static constexpr index_t differences_cost_nothing_to = 3, near_pairs_are_common_to = 6;  // features
  static constexpr double roundings_of_exponents = sizeof(T) == 4 ? 150 : 8000;  // of Gaussians: of 168 and 9007
  static constexpr double roundings_of_distances = 80;                           // relative to themselves
  static constexpr int pairs_to_a_panel = 3;  // that cost as much one by one as the differences of a panel

  // As measured, for 1000 features at most.
  static double roundings_of_products(double d) {
    return 3 + (std::min<double>(d, summed_in_turn<T>) + std::min(d, 1000.0) / summed_in_turn<T>) / 5;
  }
  // The s = D / |q|^2 whose error r (|q|^2 + |x|^2) is what is allowed, where |x| is the largest, |q| + sqrt(D).
  static double least_share(double r) {
    const double root = (r + std::sqrt(r * (2 * roundings_of_distances - r))) / (roundings_of_distances - r);
    return root * root;
  }

  // The largest norms of queries and points together.
  bool product_suffices(double norms) const {
    return decay_ == Decay::gaussian && rate_ * norms * roundings_ <= roundings_of_exponents;
  }

  // The product form, and differences for pairs below the share of the query's norm: one by one if they are few, else
  // for the panels that hold them.
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
    const KeepSubnormals guard;  // of coordinates that are not scaled yet
    for_each_small([&](index_t r, index_t first, unsigned bits) {
      for (; bits != 0; bits &= bits - 1) {
        const index_t column = first + __builtin_ctz(bits);
        out.value[r][column] = points.squared_distance(queries.row(block, r), tile.first + column);
      }
    });
  }

  Decay decay_;
  bool singular_;
  double rate_;  // of natural logarithms
  bool always_difference_, few_features_;
  double roundings_;
  T share_;
};

}  // namespace spectralcls::detail
