#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "neighbors/candidates.hpp"
#include "neighbors/in_range.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/scan.hpp"
#include "neighbors/tile_search.hpp"
#include "neighbors/tree_or_tiles.hpp"
#include "neighbors/tree_search.hpp"

namespace spectralcls {

namespace {

using detail::Candidates;
using detail::TileSearch;

// The k nearest points of each query of a chunk.
template <class T>
class NearestOfChunk {
 public:
  NearestOfChunk(const TileSearch<T>& search, const QueryChunk<T>& chunk, index_t k)
      : search_(search),
        chunk_(chunk),
        k_(k),
        candidates_(chunk.places.size()),
        buffer_(std::make_unique<TileBuffer<T>>()) {
    for (Candidates& one : candidates_) one.reset(k);
  }

  // Compares one block of queries with the points that pass the filter. The tiles around the nearest tile come first.
  // The distance to the k-th neighbor in these tiles limits the search, and the limit shrinks as the search proceeds.
  void look(index_t block) {
    search_.look(chunk_, block, block_filter_);
    const index_t n_rows = chunk_.size_of(block), n_tiles = search_.filter()->n_tiles();
    const Range begun = about(block_filter_.nearest(0, n_tiles));
    for (index_t t = begun.begin; t < begun.end; ++t) compare(block, tile(t));
    for (index_t r = 0; r < n_rows; ++r) compact(block, r);
    detail::SearchRadius search_radius;
    auto narrow = [&] { search_radius.set(n_rows, [&](index_t r) { return of(block, r).reach(); }); };
    narrow();
    block_filter_.for_each_near(
        {0, n_tiles}, begun, search_radius, [](index_t) { return false; },
        [&](index_t t, int n_hits, const std::uint64_t* bits) {
          const bool many = n_hits * dense_from > n_rows * tile(t).n_vectors * lanes<T>;
          if (many && search_.product_suffices(search_.product_error(chunk_, block, tile(t)), search_radius.farthest))
            compare(block, tile(t));
          else
            for (index_t r = 0; r < n_rows; ++r) compare(block, r, tile(t), bits[r]);
          narrow();
        });
    ++work_.blocks;
    work_.coordinates = block_filter_.n_coordinates();
    work_.box_coordinates = block_filter_.n_box_coordinates();
  }

  // Compares a block of queries with all points of a tile.
  void compare(index_t block, const Tile& tile) {
    const index_t n_rows = chunk_.size_of(block);
    double farthest = 0;
    for (index_t r = 0; r < n_rows; ++r) farthest = std::max(farthest, of(block, r).reach());
    const double error = search_.product_error(chunk_, block, tile);
    const DistanceForm form = search_.form(error, farthest);
    squared_distances(form, chunk_.packed, block, tile_rows, search_.tiles(), tile, *buffer_);
    work_.vectors += tile.n_vectors;
    for (index_t r = 0; r < n_rows; ++r) {
      const T* D = buffer_->value[r];
      Candidates& mine = of(block, r);
      T limit = search_.computed_limit(form, mine.reach(), error);
      if (!less_bits<T>(row_minimum<T>(D, tile.n_vectors), broadcast<T>(limit))) continue;
      for (int v = 0; v < tile.n_vectors; ++v) {
        detail::scan<T>(D, v, broadcast<T>(limit), [&](int j) {
          mine.add(search_.bounds(form, D[j], error), row(tile.first + j));
          ++work_.candidates;
        });
        if (!mine.wants_compaction()) continue;
        compact(block, r);
        limit = search_.computed_limit(form, mine.reach(), error);
      }
    }
  }

  const typename TileSearch<T>::Work& work() const { return work_; }

  // Calls write(query, place, exact squared distance, index) for each neighbor, in order.
  template <class Write>
  void finish(Write&& write) {
    for (index_t r = 0; r < chunk_.places.size(); ++r) {
      const index_t query = chunk_.rows[r];
      index_t place = 0;
      for (const auto& entry : candidates_[r].nearest([&](index_t point) { return search_.exact(query, point); }))
        write(query, place++, entry.upper, entry.index);
    }
  }

 private:
  static constexpr int dense_from = 16;  // a tile is compared whole if more than one pair in 16 may be near enough

  const Tile& tile(index_t t) const { return search_.tiles().tiles()[t]; }
  index_t row(index_t column) const { return search_.tiles().rows()[column]; }
  Candidates& of(index_t block, index_t r) { return candidates_[block * tile_rows + r]; }

  // Returns a range of tiles around tile t that holds at least k points, or the range of all tiles.
  Range about(index_t t) const {
    const auto n_tiles = length(search_.tiles().tiles());
    Range range{t, t + 1};
    auto n_points = [&](index_t at) {
      return index_t{tile(at).n_vectors} * lanes<T> - (at + 1 == n_tiles ? lanes<T> - 1 : 0);
    };
    for (index_t n = n_points(t); n < k_ && range.size() < n_tiles;) {
      if (range.end < n_tiles) n += n_points(range.end++);
      if (range.begin > 0) n += n_points(--range.begin);
    }
    return range;
  }

  void compact(index_t block, index_t r) {
    const index_t query = chunk_.rows_of(block)[r];
    of(block, r).compact([&](index_t point) { return search_.exact(query, point); });
  }

  // Compares one query with those points of a tile whose bits are set.
  void compare(index_t block, index_t r, const Tile& tile, std::uint64_t bits) {
    if (!bits) return;
    work_.pairs += __builtin_popcountll(bits);
    const index_t query = chunk_.rows_of(block)[r];
    Candidates& mine = of(block, r);
    for (; bits; bits &= bits - 1) {
      const index_t point = row(tile.first + __builtin_ctzll(bits));
      const double squared = search_.exact(query, point);
      if (squared <= mine.reach()) mine.add({squared, squared}, point);
    }
    compact(block, r);
  }

  const TileSearch<T>& search_;
  const QueryChunk<T>& chunk_;
  index_t k_;
  std::vector<Candidates> candidates_;
  std::unique_ptr<TileBuffer<T>> buffer_;
  detail::TileFilter::Block block_filter_;
  typename TileSearch<T>::Work work_;
};

template <class T>
void tile_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                    const Execution& execution) {
  const auto search = detail::search_of<T>(
      queries, points, Candidates::bytes(k), Candidates::expected(k, points.rows), execution,
      // The k-th neighbor is assumed to be as near as the nearest.
      [](double, double least) { return least; },
      [&](const TileSearch<T>& through_filter, const QueryChunk<T>& chunk) {
        NearestOfChunk<T> nearest(through_filter, chunk, k);
        nearest.look(0);
        return nearest.work();
      });
  search->for_each([&](index_t, const QueryChunk<T>& chunk, Checkpoint& checkpoint) {
    NearestOfChunk<T> nearest(*search, chunk, k);
    search->run(chunk, nearest, checkpoint);
    nearest.finish([&](index_t query, index_t place, double squared, std::int64_t index) {
      distances[query * k + place] = search->distance(squared);
      indices[query * k + place] = index;
    });
  });
}

// Searches with the tree of the index, or with a new tree. Returns false if a tree does not pay off or cannot hold the
// points.
template <class T>
bool tree_neighbors(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                    Search search, T* distances, std::int64_t* indices, const Execution& execution) {
  const detail::TreeOrTiles rule(index ? index->asked(queries.rows) : queries.rows, points.rows, points.cols, k);
  if (points.rows > detail::KdTree<T>::most_points) {
    if (search == Search::tree) throw std::invalid_argument("a k-d tree holds up to 2^31 points");
    return false;
  }
  if (search == Search::automatic && !rule.tree_may_pay(index != nullptr)) return false;
  std::optional<detail::KdTree<T>> own;
  const detail::KdTree<T>& tree = index ? index->tree(execution) : own.emplace(points, execution);
  const bool among_themselves = queries.data == points.data && queries.rows == points.rows;
  const double most_scans = search == Search::automatic ? rule.most_scans() : std::numeric_limits<double>::infinity();
  return detail::search_tree(tree, queries, among_themselves, k, most_scans, distances, indices, execution);
}

}  // namespace

namespace detail {

template <class T>
void nearest_in_range(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                      Search search, T* distances, std::int64_t* indices, const Execution& execution) {
  if (search != Search::tiles && tree_neighbors(queries, points, index, k, search, distances, indices, execution))
    return;
  if (search == Search::automatic && queries.rows <= most_scanned(points.cols))
    return scan_neighbors(queries, points, k, distances, indices, execution);
  tile_neighbors<T>(queries, points, k, distances, indices, execution);
}

template void nearest_in_range(MatrixView<float>, MatrixView<float>, const NeighborIndex<float>*, index_t, Search,
                               float*, std::int64_t*, const Execution&);
template void nearest_in_range(MatrixView<double>, MatrixView<double>, const NeighborIndex<double>*, index_t, Search,
                               double*, std::int64_t*, const Execution&);

}  // namespace detail
}  // namespace spectralcls
