#include <memory>

#include "neighbors/in_range.hpp"
#include "neighbors/tile_search.hpp"

namespace spectralcls {
namespace detail {

template <class T>
struct Found {
  index_t query;
  std::int64_t point;
  T distance;
};

// The scaled squared radii of the packed points, with a margin for rounding. Padding has a negative value, below every
// squared distance.
template <class T>
struct SquaredRadii {
  std::vector<double> of_column, largest_of_tile;
  double largest = -1;  // of all

  SquaredRadii(const TileSearch<T>& search, const T* radii) : of_column(search.tiles().n_columns(), -1.0) {
    for (const Tile& tile : search.tiles().tiles()) {
      double most = -1;
      for (index_t j = tile.first; j < tile.first + tile.n_vectors * lanes<T>; ++j) {
        const index_t row = search.tiles().rows()[j];
        if (row < 0) continue;
        const double radius = radii[row] / search.scale() * (1 + 2.0 * std::numeric_limits<T>::epsilon());
        of_column[j] = radius * radius;
        most = std::max(most, radius * radius);
      }
      largest_of_tile.push_back(most);
      largest = std::max(largest, most);
    }
  }
};

}  // namespace detail

namespace {

using detail::Found;
using detail::SquaredRadii;
using detail::TileSearch;

// Finds the points that have a query of a chunk within their radius.
template <class T>
class ReverseOfChunk {
 public:
  ReverseOfChunk(const TileSearch<T>& search, const QueryChunk<T>& chunk, const T* radii,
                 const SquaredRadii<T>& squared)
      : search_(search), chunk_(chunk), radii_(radii), squared_(squared), buffer_(std::make_unique<TileBuffer<T>>()) {}

  // Compares a block of queries with the tiles that may contain a point whose radius reaches one of the queries.
  void look(index_t block) {
    search_.look(chunk_, block, block_filter_);
    const float farthest = detail::SearchRadius::enlarged(squared_.largest);
    block_filter_.for_each_within({0, search_.filter()->n_tiles()}, farthest, [&](index_t t) {
      detail::SearchRadius search_radius;
      search_radius.set(chunk_.size_of(block), [&](index_t) { return squared_.largest_of_tile[t]; });
      std::uint64_t bits[tile_rows];
      if (block_filter_.bound(t) <= search_radius.farthest && block_filter_.hits(t, search_radius.squared, bits) > 0)
        compare(block, search_.tiles().tiles()[t]);
    });
    ++work_.blocks;
    work_.coordinates = block_filter_.n_coordinates();
    work_.box_coordinates = block_filter_.n_box_coordinates();
  }

  // Compares a block of queries with all points of a tile.
  void compare(index_t block, const Tile& tile) {
    const double error = search_.product_error(chunk_, block, tile);
    const DistanceForm form = search_.form(error, squared_.largest_of_tile[&tile - search_.tiles().tiles().data()]);
    squared_distances(form, chunk_.packed, block, tile_rows, search_.tiles(), tile, *buffer_);
    work_.vectors += tile.n_vectors;
    for (int j = 0; j < tile.n_vectors * lanes<T>; ++j)
      limits_[j] = search_.computed_limit(form, squared_.of_column[tile.first + j], error);
    for (index_t r = 0; r < chunk_.size_of(block); ++r) {
      const T* D = buffer_->value[r];
      unsigned any = 0;  // most rows of a tile have no pair within a radius
      for (int v = 0; v < tile.n_vectors; ++v)
        any |= less_bits<T>(load(D + v * lanes<T>), load(limits_ + v * lanes<T>));
      if (!any) continue;
      const index_t query = chunk_.rows_of(block)[r];
      for (int v = 0; v < tile.n_vectors; ++v)
        detail::scan<T>(D, v, load(limits_ + v * lanes<T>), [&](int j) {
          const index_t point = search_.tiles().rows()[tile.first + j];
          const T distance = search_.distance(search_.exact(query, point));
          if (distance < radii_[point]) found.push_back({query, point, distance});
        });
    }
  }

  const typename TileSearch<T>::Work& work() const { return work_; }
  std::vector<Found<T>> found;

 private:
  const TileSearch<T>& search_;
  const QueryChunk<T>& chunk_;
  const T* radii_;
  const SquaredRadii<T>& squared_;
  std::unique_ptr<TileBuffer<T>> buffer_;
  alignas(64) T limits_[tile_width<T>];
  detail::TileFilter::Block block_filter_;
  typename TileSearch<T>::Work work_;
};

// Merges the pairs of all chunks into lists in the order of the queries. All pairs of a query are in one chunk, in
// arbitrary order.
template <class T>
NeighborLists<T> in_order(std::vector<std::vector<Found<T>>> found, index_t n_queries) {
  NeighborLists<T> lists;
  lists.first.assign(n_queries + 1, 0);
  for (const auto& chunk : found)
    for (const Found<T>& one : chunk) ++lists.first[one.query + 1];
  for (index_t i = 1; i < length(lists.first); ++i) lists.first[i] += lists.first[i - 1];
  lists.indices.resize(lists.first.back());
  lists.distances.resize(lists.indices.size());
  for (auto& chunk : found) {
    std::sort(chunk.begin(), chunk.end(), [](const Found<T>& a, const Found<T>& b) {
      return a.query < b.query || (a.query == b.query && a.point < b.point);
    });
    std::int64_t at = 0;
    for (index_t i = 0; i < length(chunk); ++i, ++at) {
      if (i == 0 || chunk[i].query != chunk[i - 1].query) at = lists.first[chunk[i].query];
      lists.indices[at] = chunk[i].point;
      lists.distances[at] = chunk[i].distance;
    }
  }
  return lists;
}

}  // namespace

namespace detail {

template <class T>
NeighborLists<T> reverse_in_range(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                  const Execution& execution) {
  auto median_reach = [&](double scale, double) {
    std::vector<T> sorted(radii, radii + points.rows);
    std::nth_element(sorted.begin(), sorted.begin() + points.rows / 2, sorted.end());
    const double radius = sorted[points.rows / 2] / scale;
    return radius * radius;
  };
  const auto search = search_of<T>(queries, points, 1, 0.0, execution, median_reach,
                                   [&](const TileSearch<T>& through_filter, const QueryChunk<T>& chunk) {
                                     const SquaredRadii<T> squared(through_filter, radii);
                                     ReverseOfChunk<T> reverse(through_filter, chunk, radii, squared);
                                     reverse.look(0);
                                     return reverse.work();
                                   });
  const SquaredRadii<T> squared(*search, radii);
  std::vector<std::vector<Found<T>>> found(search->n_chunks());
  search->for_each([&](index_t c, const QueryChunk<T>& chunk, Checkpoint& checkpoint) {
    ReverseOfChunk<T> reverse(*search, chunk, radii, squared);
    search->run(chunk, reverse, checkpoint);
    found[c] = std::move(reverse.found);
  });
  return in_order(std::move(found), queries.rows);
}

template NeighborLists<float> reverse_in_range(MatrixView<float>, MatrixView<float>, const float*, const Execution&);
template NeighborLists<double> reverse_in_range(MatrixView<double>, MatrixView<double>, const double*,
                                                const Execution&);

}  // namespace detail
}  // namespace spectralcls
