#include "spectralcls/knn.hpp"

#include <memory>
#include <utility>

#include "tile_search.hpp"

namespace spectralcls {
namespace {

using detail::TileSearch;

// The k best (squared distance, index) pairs of one query, as a heap with the worst on top.
class Best {
 public:
  using Entry = std::pair<double, std::int64_t>;
  void reset(index_t k) {
    k_ = static_cast<std::size_t>(k);
    heap_.clear();
    heap_.reserve(k_);
  }
  double worst() const { return heap_.size() < k_ ? std::numeric_limits<double>::infinity() : heap_.front().first; }
  bool empty() const { return heap_.empty(); }
  void offer(Entry entry) {
    if (heap_.size() < k_) {
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (entry < heap_.front()) {
      replace_worst(entry);
    }
  }
  const std::vector<Entry>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    return heap_;
  }

 private:
  void replace_worst(Entry entry) {
    std::size_t hole = 0;
    for (std::size_t child = 1; child < k_; child = 2 * hole + 1) {
      if (child + 1 < k_ && heap_[child] < heap_[child + 1]) ++child;
      if (!(entry < heap_[child])) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = entry;
  }

  std::size_t k_ = 0;
  std::vector<Entry> heap_;
};

double farthest_of(const Best* best, index_t n) {
  double farthest = 0;
  for (index_t i = 0; i < n; ++i) farthest = std::max(farthest, best[i].worst());
  return farthest;
}

// Calls hit(column) for every column of a row of distances below limit(v), the limits of its v-th vector.
template <class T, class Limit, class Hit>
inline void scan(const T* D, int n_vectors, Limit&& limit, Hit&& hit) {
  for (int v = 0; v < n_vectors; ++v)
    for (unsigned bits = less_bits<T>(load(D + v * lanes<T>), limit(v)); bits; bits &= bits - 1)
      hit(v * lanes<T> + __builtin_ctz(bits));
}

// The least of a row of distances, in four chains: one would wait for itself.
template <class T>
inline Vec<T> row_minimum(const T* D, int n_vectors) {
  if (n_vectors < tile_vectors) {
    Vec<T> least = load(D);
    for (int v = 1; v < n_vectors; ++v) least = minimum<T>(least, load(D + v * lanes<T>));
    return least;
  }
  Vec<T> least[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) least[i] = load(D + i * lanes<T>);
#pragma GCC unroll 12
  for (int v = 4; v < tile_vectors; ++v) least[v % 4] = minimum<T>(least[v % 4], load(D + v * lanes<T>));
  return minimum<T>(minimum<T>(least[0], least[1]), minimum<T>(least[2], least[3]));
}

// A limit for the first tile of a query: nothing beyond its k-th smallest distance can be wanted.
template <class T>
T first_limit(const TileSearch<T>& search, const T* D, const Tile& tile, DistanceForm form, double error, index_t k) {
  const index_t n = tile.n_vectors * lanes<T>;
  if (n < k) return std::numeric_limits<T>::infinity();
  T sorted[tile_width<T>];
  std::copy(D, D + n, sorted);
  std::nth_element(sorted, sorted + k - 1, sorted + n);
  return search.computed_limit(form, search.computed_limit(form, sorted[k - 1], error), error);
}

template <class T>
void nearest_of_tile(const TileSearch<T>& search, const typename TileSearch<T>::Chunk& chunk, index_t block,
                     const Tile& tile, index_t k, std::vector<Best>& best, TileBuffer<T>& buffer) {
  const index_t first = block * tile_rows, n_rows = std::min<index_t>(tile_rows, chunk.n_rows - first);
  const double farthest = farthest_of(best.data() + first, n_rows);
  if (search.bound(chunk, block, tile) > farthest) return;

  const double error = search.product_error(chunk, block, tile);
  const DistanceForm form = search.form(error, farthest);
  squared_distances(form, chunk.packed, block, search.points(), tile, buffer);
  for (index_t r = 0; r < n_rows; ++r) {
    const T* D = buffer.value[r];
    Best& mine = best[static_cast<std::size_t>(first + r)];
    T limit = mine.empty() ? first_limit(search, D, tile, form, error, k)
                           : search.computed_limit(form, mine.worst(), error);
    if (!any_less<T>(row_minimum(D, tile.n_vectors), broadcast<T>(limit))) continue;
    scan(
        D, tile.n_vectors, [&](int) { return broadcast<T>(limit); },
        [&](int j) {
          if (!(D[j] < limit)) return;
          const index_t point = search.points().source()[static_cast<std::size_t>(tile.first + j)];
          mine.offer({search.exact(chunk.rows[first + r], point), point});
          limit = std::min(limit, search.computed_limit(form, mine.worst(), error));
        });
  }
}

}  // namespace

template <class T>
void nearest_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                       const Execution& execution) {
  const TileSearch<T> search(queries, points);
  search.for_each(execution, [&](index_t, const typename TileSearch<T>::Chunk& chunk, Checkpoint& checkpoint) {
    std::vector<Best> best(static_cast<std::size_t>(chunk.n_rows));
    for (Best& one : best) one.reset(k);
    auto buffer = std::make_unique<TileBuffer<T>>();
    for (const auto& visit : search.visits(chunk)) {
      if (visit.bound > farthest_of(best.data(), chunk.n_rows)) break;
      const Tile& tile = search.points().tiles()[visit.tile];
      for (index_t b = 0; b < chunk.packed.n_blocks; ++b) nearest_of_tile(search, chunk, b, tile, k, best, *buffer);
      checkpoint();
    }
    for (index_t r = 0; r < chunk.n_rows; ++r) {
      index_t at = chunk.rows[r] * k;
      for (const auto& [squared, index] : best[static_cast<std::size_t>(r)].sorted()) {
        distances[at] = search.distance(squared);
        indices[at++] = index;
      }
    }
  });
}

template <class T>
NeighborLists<T> reverse_neighbors(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                   const Execution& execution) {
  const TileSearch<T> search(queries, points);
  const auto& tiles = search.points().tiles();
  // Squared radii in units, in the order of the packed columns; below every distance for the padding.
  std::vector<double> squared(static_cast<std::size_t>(search.points().n_columns()), -1.0), largest(tiles.size(), -1.0);
  for (std::size_t t = 0; t < tiles.size(); ++t)
    for (index_t j = tiles[t].first; j < tiles[t].first + tiles[t].n_vectors * lanes<T>; ++j) {
      const index_t row = search.points().source()[static_cast<std::size_t>(j)];
      if (row < 0) continue;
      const double radius = radii[row] / search.unit() * (1 + 2.0 * std::numeric_limits<T>::epsilon());
      squared[static_cast<std::size_t>(j)] = radius * radius;
      largest[t] = std::max(largest[t], radius * radius);
    }

  struct Found {
    index_t query;
    std::int64_t point;
    T distance;
  };
  std::vector<std::vector<Found>> found(static_cast<std::size_t>(search.n_chunks()));
  search.for_each(execution, [&](index_t c, const typename TileSearch<T>::Chunk& chunk, Checkpoint& checkpoint) {
    auto buffer = std::make_unique<TileBuffer<T>>();
    alignas(64) T limits[tile_width<T>];
    auto& mine = found[static_cast<std::size_t>(c)];
    for (const auto& visit : search.visits(chunk)) {
      const Tile& tile = tiles[visit.tile];
      const double reach = largest[visit.tile];
      if (visit.bound > reach) continue;
      for (index_t b = 0; b < chunk.packed.n_blocks; ++b) {
        if (search.bound(chunk, b, tile) > reach) continue;
        const double error = search.product_error(chunk, b, tile);
        const DistanceForm form = search.form(error, reach);
        squared_distances(form, chunk.packed, b, search.points(), tile, *buffer);
        for (int j = 0; j < tile.n_vectors * lanes<T>; ++j)
          limits[j] = search.computed_limit(form, squared[static_cast<std::size_t>(tile.first + j)], error);
        const index_t first = b * tile_rows, n_rows = std::min<index_t>(tile_rows, chunk.n_rows - first);
        for (index_t r = 0; r < n_rows; ++r) {
          const T* D = buffer->value[r];
          const index_t query = chunk.rows[first + r];
          scan(
              D, tile.n_vectors, [&](int v) { return load(limits + v * lanes<T>); },
              [&](int j) {
                const index_t point = search.points().source()[static_cast<std::size_t>(tile.first + j)];
                const T distance = search.distance(search.exact(query, point));
                if (distance < radii[point]) mine.push_back({query, point, distance});
              });
        }
      }
      checkpoint();
    }
  });

  NeighborLists<T> lists;
  lists.first.assign(static_cast<std::size_t>(queries.rows) + 1, 0);
  for (const auto& chunk : found)
    for (const Found& one : chunk) ++lists.first[static_cast<std::size_t>(one.query) + 1];
  for (std::size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
  lists.indices.resize(static_cast<std::size_t>(lists.first.back()));
  lists.distances.resize(lists.indices.size());
  for (auto& chunk : found) {
    std::sort(chunk.begin(), chunk.end(), [](const Found& a, const Found& b) {
      return a.query < b.query || (a.query == b.query && a.point < b.point);
    });
    std::int64_t at = 0;
    for (std::size_t i = 0; i < chunk.size(); ++i, ++at) {
      if (i == 0 || chunk[i].query != chunk[i - 1].query) at = lists.first[static_cast<std::size_t>(chunk[i].query)];
      lists.indices[static_cast<std::size_t>(at)] = chunk[i].point;
      lists.distances[static_cast<std::size_t>(at)] = chunk[i].distance;
    }
  }
  return lists;
}

template void nearest_neighbors(MatrixView<float>, MatrixView<float>, index_t, float*, std::int64_t*, const Execution&);
template void nearest_neighbors(MatrixView<double>, MatrixView<double>, index_t, double*, std::int64_t*, const Execution&);
template NeighborLists<float> reverse_neighbors(MatrixView<float>, MatrixView<float>, const float*, const Execution&);
template NeighborLists<double> reverse_neighbors(MatrixView<double>, MatrixView<double>, const double*, const Execution&);

}  // namespace spectralcls
