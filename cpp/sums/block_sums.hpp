// Computes the sums of a block of queries over tiles or single pairs: first the arguments of the kernel, then the
// kernel values, which are multiplied by weights and added to vectors of sums. flush() adds these vectors to the
// partial sums in double.
#pragma once

#include <algorithm>
#include <limits>

#include "geometry/distance_tile.hpp"
#include "geometry/query_chunks.hpp"
#include "sums/near_pairs.hpp"
#include "sums/partial_sums.hpp"
#include "sums/sum_accumulators.hpp"
#include "sums/sum_plan.hpp"

namespace spectralcls::detail {

template <class T>
class BlockSums {
 public:
  BlockSums(const SumPlan<T>& plan, const Range& chunk)
      : plan_(plan),
        request_(plan.request),
        n_bandwidths_(static_cast<int>(plan.n_bandwidths)),
        n_columns_(plan.request.n_columns),
        chunk_(request_.queries, plan.rows, chunk, plan.packed->geometry()),
        partial_(plan, chunk.size()),
        places_(request_.n_labels, -1) {}

  const PackedQueries<T>& queries() const { return chunk_.packed; }
  PartialSums<T>& partial() { return partial_; }
  // Returns the largest shift of the rows of the block for the selected label.
  double farthest_shift() const {
    return plan_.scaled ? static_cast<double>(*std::max_element(shifts(), shifts() + n_rows_)) : 0.0;
  }
  // Returns the smallest argument of a row since reset_least().
  T least(index_t row) const { return least_[row]; }
  void reset_least() { std::fill_n(least_, tile_rows, std::numeric_limits<T>::max()); }
  index_t n_rows() const { return n_rows_; }

  // Returns -log2 of a lower bound on the absolute value of the row's partial sum for the selected label, or infinity
  // if no bound is known.
  double exponent(index_t row) const {
    constexpr double roundings = 1 - 0x1p-10;  // the computed sum may be rounded up
    if (n_bandwidths_ > 1 || n_columns_ > 1) return std::numeric_limits<double>::infinity();
    const double shift = plan_.scaled ? static_cast<double>(shifts()[row]) : 0.0;
    const double sum = std::abs(sum_of_lanes<T>(sums(row)[0]));
    return sum > 0 ? bandwidths().lowest_rate * shift - log2_below(sum * roundings)
                   : std::numeric_limits<double>::infinity();
  }

  // Opens a block of query rows. Unflushed sums are lost.
  void open(index_t block) {
    block_ = block;
    n_rows_ = chunk_.size_of(block);
    for (const LabelSums& sums : opened_) places_[sums.label] = -1;
    opened_.clear();
  }

  // Selects the label of the points that are added next.
  void select(int label) {
    index_t& place = places_[label];
    if (place < 0) {
      place = length(opened_);
      opened_.push_back({label, 0, {}});
      const auto size = length(opened_) * (tile_rows * vectors_per_row());
      if (length(sum_) < size) sum_.resize(size);
      clear(place);
    }
    selected_ = place;
    label_ = label;
  }

  // Adds the points of a tile. No argument of theirs is less than `least`, and least() follows them if `with_least`.
  void add(const Tile& tile, bool with_least, double least = 0) {
    bandwidths().arguments.measure(chunk_, block_, *plan_.packed, tile, argument_, memory_, [&] {
      if (request_.query_groups) leave_out_group(tile);
      if (request_.excluded) leave_out(tile);
    });
    if (!with_least && plan_.scaled && n_bandwidths_ == 1 && least >= farthest_shift() - shift_slack())
      std::fill_n(gap_, n_rows_, 0.0);  // no shift moves
    else if (plan_.scaled || n_bandwidths_ > 1 || with_least)
      for (index_t r = 0; r < n_rows_; ++r) follow_minimum(r, tile.n_vectors);
    accumulate(tile);
    opened_[selected_].n_vectors += tile.n_vectors;
  }

  // Adds the pairs of a row and empties their list.
  void add(NearPairs<T>& pairs, int r) {
    for (int first = 0, n = 0; first < pairs.size(r); first += n) {
      select(pairs.label(r, first));
      flush_if_full();
      for (n = 1; n < tile_width<T> && first + n < pairs.size(r) && pairs.label(r, first + n) == label_;) ++n;
      const int n_vectors = pairs.measure(r, first, n, argument_.value[r]);
      leave_out(pairs, r, first, n);
      bandwidths().arguments.finish(argument_.value[r], n_vectors);
      follow_minimum(r, n_vectors);
      accumulate(pairs, r, first, n, n_vectors);
      opened_[selected_].n_vectors += n_vectors;
    }
    pairs.clear(r);
  }

  // Adds the vectors of sums to the partial sums of their rows, in double.
  void flush() {
    for (const LabelSums& sums : opened_) {
      select(sums.label);
      flush_selected();
    }
  }

  // Flushes the selected label and clears its sums if the number of vectors has reached the limit for sums in T.
  void flush_if_full() {
    if (opened_[selected_].n_vectors < block_vectors) return;
    flush_selected();
    clear(selected_);
  }

  // Returns whether every query of the block leaves out all points of a tile.
  bool leaves_out_whole(const Tile& tile) const {
    if (!request_.query_groups) return false;
    const index_t place = chunk_.places.begin + block_ * tile_rows, group = plan_.group_at(place);
    if (plan_.group_at(place + n_rows_ - 1) != group) return false;  // queries are sorted by group
    const Range own = plan_.points->run(tile.label, group);
    return own.begin <= tile.first && tile.first + tile.n_vectors * lanes<T> <= own.end;
  }

 private:
  // A term may be up to 2^headroom times the kernel value at the shift. The rounding error of its exponent grows with
  // the headroom.
  static constexpr double headroom = 40;
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  // The sums of one label, relative to the shifts of the rows. Their vectors are in `sum_`, at the label's place in
  // `opened_`.
  struct LabelSums {
    int label;
    index_t n_vectors;  // vectors of points added so far
    T shift[tile_rows];
  };

  index_t vectors_per_row() const { return n_bandwidths_ * plan_.columns().n_vectors(); }
  // Shifts and sums of the selected label.
  T* shifts() { return opened_[selected_].shift; }
  const T* shifts() const { return opened_[selected_].shift; }
  const Vec<T>* sums(index_t row) const { return sum_.data() + (selected_ * tile_rows + row) * vectors_per_row(); }
  Vec<T>* sums(index_t row) { return sum_.data() + (selected_ * tile_rows + row) * vectors_per_row(); }

  // Clears the sums of the label at a place in `opened_`, and sets their shifts to those of the partial sums.
  void clear(index_t place) {
    LabelSums& of_label = opened_[place];
    of_label.n_vectors = 0;
    const index_t size = tile_rows * vectors_per_row();
    std::fill_n(sum_.begin() + place * size, size, Vec<T>{});
    if (!plan_.scaled) return;
    for (int r = 0; r < tile_rows; ++r)
      of_label.shift[r] =
          static_cast<T>(std::min(r < n_rows_ ? partial_.shifts(block_ * tile_rows + r)[of_label.label] : 0.0,
                                  static_cast<double>(std::numeric_limits<T>::max())));
  }

  void flush_selected() {
    for (index_t r = 0; r < n_rows_ && opened_[selected_].n_vectors > 0; ++r) {
      if (plan_.scaled && shifts()[r] == std::numeric_limits<T>::max()) continue;  // all points were left out
      // The shift started as that of the partial sum (see clear()) and has only decreased since.
      const index_t row = block_ * tile_rows + r;
      if (plan_.scaled) partial_.lower_shift(row, label_, static_cast<double>(shifts()[r]));
      double* total = partial_.sums(row, label_);
      for (int b = 0; b < n_bandwidths_; ++b)
        plan_.columns().reduce(sums(r) + b * plan_.columns().n_vectors(), total + b * n_columns_);
    }
  }

  // Returns the rows of a tile from `row` on.
  static TileBuffer<T>& from_row(TileBuffer<T>& tile, index_t row) {
    return *reinterpret_cast<TileBuffer<T>*>(tile.value[row]);
  }
  // Returns the shifts of the rows from `row` on, nullptr without a scale.
  const T* shift_of(index_t row) const { return plan_.scaled ? shifts() + row : nullptr; }
  index_t place(index_t row) const { return chunk_.places.begin + block_ * tile_rows + row; }

  void accumulate(const Tile& tile) {
    auto weights = [&](int b) { return plan_.weights->of(tile, b); };
    if (n_columns_ > 1) {
      const double gap = *std::min_element(gap_, gap_ + n_rows_);
      return accumulate_columns(0, n_rows_, gap, tile.n_vectors, [&](int b, Vec<T>* sums) {
        plan_.columns().add_product(value_, n_rows_, weights(b), tile.n_vectors, sums, vectors_per_row());
      });
    }
    accumulate_rows(0, n_rows_, tile.n_vectors, weights);
  }

  void accumulate(const NearPairs<T>& pairs, int r, int first, int n, int n_vectors) {
    const index_t width = n_vectors * lanes<T>;
    plan_.weights->gather(
        *plan_.points, width, [&](index_t j) { return j < n ? pairs.column(r, first + static_cast<int>(j)) : -1; },
        weights_);
    auto weights = [&](int b) { return plan_.weights->of_gathered(weights_, width, b); };
    if (n_columns_ == 1) return accumulate_rows(r, r + 1, n_vectors, weights);
    accumulate_columns(r, r + 1, gap_[r], n_vectors, [&](int b, Vec<T>* sums) {
      plan_.columns().add_row(value_.value[r], weights(b), n_vectors, sums + r * vectors_per_row());
    });
  }

  // Adds the sums of a single column. weights(b) returns its weights for bandwidth b.
  template <class Weights>
  void accumulate_rows(index_t first, index_t last, int n_vectors, Weights&& weights) {
    if (n_bandwidths_ > 1 && plan_.rates_double) {
      for (index_t r = first; r < last; ++r) accumulate_grids(r, n_vectors, weights);
      return;
    }
    for (int b = 0; b < n_bandwidths_; ++b)
      add_rows<T>(request_.kernel, from_row(argument_, first),
                  {last - first, n_vectors, rate_of(b), weights(b), shift_of(first), gap_ + first,
                   plan_.negligible / bandwidths().rates[b], sums(first) + b, vectors_per_row()});
  }

  template <class Weights>
  void accumulate_grids(index_t r, int n_vectors, Weights&& weights) {
    const T* arguments = argument_.value[r];
    Vec<T>* row_sums = sums(r);
    for (const GeometricGrid& grid : bandwidths().grids) {
      GridStep<T> steps[longest_grid<T>];
      const int n_steps = live_steps(grid, gap_[r]);
      if (n_steps == 0) break;  // the following grids have higher rates
      for (int l = 0; l < n_steps; ++l) {
        const int b = grid.positions[l];
        steps[l] = {row_sums + b, weights(b)};
      }
      add_grid<T>(steps, n_steps, arguments, n_vectors, shift_of(r), static_cast<T>(grid.rate));
    }
  }

  // Adds the sums of several columns. The kernel values are stored in a buffer. add_values(b, sums) multiplies them by
  // the weights for bandwidth b and adds the products to its sums.
  template <class AddValues>
  void accumulate_columns(index_t first, index_t last, double gap, int n_vectors, AddValues&& add_values) {
    auto add = [&](int b) { add_values(b, sums(0) + b * plan_.columns().n_vectors()); };
    auto evaluate = [&](int b) {
      kernel_rows<T>(request_.kernel, from_row(argument_, first), last - first, n_vectors, shift_of(first), rate_of(b),
                     from_row(value_, first));
    };
    if (!plan_.rates_double) {
      for (int b = 0; b < n_bandwidths_; ++b) {
        evaluate(b);
        add(b);
      }
      return;
    }
    for (const GeometricGrid& grid : bandwidths().grids)
      for (int l = 0; l < live_steps(grid, gap); ++l) {
        const int b = grid.positions[l];
        if (l == 0) evaluate(b);
        else
          for (index_t r = first; r < last; ++r) square_row<T>(value_.value[r], n_vectors);
        add(b);
      }
  }

  const Bandwidths<T>& bandwidths() const { return plan_.of(label_); }
  T rate_of(int b) const { return static_cast<T>(bandwidths().rates[b]); }

  // Returns the number of steps of a grid whose kernel value is not negligible at this gap: step i counts if
  // 2^i rate gap <= negligible. A single bandwidth without a scale always counts, because its gap is unknown.
  int live_steps(const GeometricGrid& grid, double gap) const {
    const int n_steps = static_cast<int>(length(grid.positions));
    if (!plan_.scaled && n_bandwidths_ == 1) return n_steps;
    const double bits = grid.rate * gap;
    if (bits > plan_.negligible) return 0;
    int live = 1;
    for (int i = 1; i < n_steps; ++i) live += bits * static_cast<double>(1 << i) <= plan_.negligible;
    return live;
  }

  // Updates the smallest argument of a row and its gap, which determines the bandwidths that a tile or pair can affect.
  // With a scale, the sums are a streaming log-sum-exp: the shift moves to the new minimum if a term would otherwise
  // exceed 2^headroom.
  T shift_slack() const { return static_cast<T>(headroom / bandwidths().highest_rate); }
  void follow_minimum(index_t r, int n_vectors) {
    const T smallest = smallest_lane<T>(row_minimum<T>(argument_.value[r], n_vectors));
    least_[r] = std::min(least_[r], smallest);
    if (!plan_.scaled) {
      gap_[r] = smallest;
      return;
    }
    T& shift = shifts()[r];
    const T slack = shift_slack(), old = shift;
    const T threshold = old == std::numeric_limits<T>::max() ? old : old - slack;
    gap_[r] = static_cast<double>(smallest) - old;
    if (!(smallest < threshold)) return;
    gap_[r] = 0;
    shift = smallest;
    if (old == std::numeric_limits<T>::max()) return;  // there are no sums yet
    Vec<T>* sums = this->sums(r);
    bandwidths().for_each_shift(static_cast<double>(smallest) - old, [&](double factor) {
      for (index_t v = 0; v < plan_.columns().n_vectors(); ++v) *sums++ *= static_cast<T>(factor);
    });
  }

  // For each query, leaves out the points of its own group.
  void leave_out_group(const Tile& tile) {
    for (index_t r = 0; r < n_rows_; ++r) {
      const Range own = plan_.points->run(tile.label, plan_.group_at(place(r)));
      const index_t width = tile.n_vectors * lanes<T>;
      const index_t begin = std::clamp<index_t>(own.begin - tile.first, 0, width);
      const index_t end = std::clamp<index_t>(own.end - tile.first, begin, width);
      std::fill(argument_.value[r] + begin, argument_.value[r] + end, infinity);
    }
  }

  // Returns the packed column of the point that a query leaves out, -1 for none.
  index_t excluded_column(index_t row) const {
    const index_t point = request_.excluded ? request_.excluded[chunk_.rows_of(block_)[row]] : -1;
    return point < 0 ? -1 : plan_.packed->positions()[point];
  }

  void leave_out(const Tile& tile) {
    for (index_t r = 0; r < n_rows_; ++r) {
      const index_t column = excluded_column(r) - tile.first;
      if (column >= 0 && column < tile.n_vectors * lanes<T>) argument_.value[r][column] = infinity;
    }
  }

  void leave_out(const NearPairs<T>& pairs, int r, int first, int n) {
    if (!request_.query_groups && !request_.excluded) return;
    const Range own = request_.query_groups ? plan_.points->run(label_, plan_.group_at(place(r))) : Range{0, 0};
    const index_t excluded = excluded_column(r);
    for (int i = 0; i < n; ++i) {
      const index_t column = pairs.column(r, first + i);
      if (column == excluded || (own.begin <= column && column < own.end)) argument_.value[r][i] = infinity;
    }
  }

  const SumPlan<T>& plan_;
  const KernelSums<T>& request_;
  const int n_bandwidths_;
  const index_t n_columns_;
  const QueryChunk<T> chunk_;
  PartialSums<T> partial_;
  index_t block_ = 0, n_rows_ = 0, selected_ = 0;
  int label_ = 0;
  TileBuffer<T> argument_, value_;
  typename TileArguments<T>::Memory memory_;
  std::vector<LabelSums> opened_;
  std::vector<index_t> places_;  // place of each label in opened_, -1 for none
  AlignedVector<Vec<T>> sum_;
  AlignedVector<T> weights_;  // weights of pairs
  T least_[tile_rows];
  double gap_[tile_rows];  // smallest argument of each row, minus its shift with a scale; set only if needed
};

}  // namespace spectralcls::detail
