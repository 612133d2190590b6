#include "neighbors/knn.hpp"

#include <memory>
#include <utility>

#include "neighbors/tile_search.hpp"

namespace spectralcls {
namespace {

using detail::TileSearch;

// Points that may be among the k nearest of one query, with bounds of their squared distances. Most enter and leave
// unseen; exact distances are computed for the few that remain, and where ties crowd the bounds.
class Candidates {
 public:
  struct Entry {
    double lower, upper;
    std::int64_t index;
  };

  void reset(index_t k) {
    k_ = static_cast<std::size_t>(k);
    entries_.reserve(capacity(k_));
  }
  static std::size_t bytes(index_t k) { return capacity(static_cast<std::size_t>(k)) * sizeof(Entry); }
  // No point beyond this is wanted: k candidates are at least that near.
  double reach() const { return reach_; }
  void add(std::pair<double, double> bounds, std::int64_t index) { entries_.push_back({bounds.first, bounds.second, index}); }
  // A compaction costs about as much as it saves once k new candidates have come in.
  bool wants_compaction() const { return entries_.size() >= compacted_ + k_ + spare && entries_.size() >= k_; }

  template <class Exact>
  void compact(Exact&& exact) {
    narrow();
    if (entries_.size() > 2 * k_ + spare) {
      settle(exact);
      narrow();
      // Of exact ties for the last place, only the smallest indices are wanted.
      if (entries_.size() > k_) keep_best();
    }
    compacted_ = entries_.size();
  }

  // The k nearest as (exact squared distance, index), in order.
  template <class Exact>
  const std::vector<Entry>& nearest(Exact&& exact) {
    narrow();
    settle(exact);
    keep_best();
    std::sort(entries_.begin(), entries_.end(), nearer);
    return entries_;
  }

 private:
  static constexpr std::size_t spare = 16;
  static std::size_t capacity(std::size_t k) { return 2 * k + spare + 64; }

  static bool nearer(const Entry& a, const Entry& b) {
    return a.upper < b.upper || (a.upper == b.upper && a.index < b.index);
  }
  void narrow() {
    if (entries_.size() <= k_) {
      if (entries_.size() == k_) reach_ = std::max_element(entries_.begin(), entries_.end(), nearer)->upper;
      return;
    }
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(entries_.begin(), last, entries_.end(), nearer);
    reach_ = last->upper;
    entries_.erase(std::remove_if(last + 1, entries_.end(), [&](const Entry& e) { return e.lower > reach_; }),
                   entries_.end());
  }
  template <class Exact>
  void settle(Exact&& exact) {
    for (Entry& e : entries_)
      if (e.lower != e.upper) e.lower = e.upper = exact(e.index);
  }
  void keep_best() {
    std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(k_) - 1, entries_.end(), nearer);
    entries_.resize(k_);
  }

  std::size_t k_ = 0, compacted_ = 0;
  double reach_ = std::numeric_limits<double>::infinity();
  std::vector<Entry> entries_;
};

double farthest_of(const Candidates* candidates, index_t n) {
  double farthest = 0;
  for (index_t i = 0; i < n; ++i) farthest = std::max(farthest, candidates[i].reach());
  return farthest;
}

// Calls hit(column) for every column of the v-th vector of a row of distances that is below its limit.
template <class T, class Hit>
inline void scan(const T* D, int v, Vec<T> limit, Hit&& hit) {
  for (unsigned bits = less_bits<T>(load(D + v * lanes<T>), limit); bits; bits &= bits - 1)
    hit(v * lanes<T> + __builtin_ctz(bits));
}

template <class T>
void nearest_of_tile(const TileSearch<T>& search, const typename TileSearch<T>::Chunk& chunk, index_t block,
                     const Tile& tile, std::vector<Candidates>& candidates, TileBuffer<T>& buffer) {
  const index_t first = block * tile_rows, n_rows = std::min<index_t>(tile_rows, chunk.n_rows - first);
  const double farthest = farthest_of(candidates.data() + first, n_rows);
  if (search.bound(chunk, block, tile) > farthest) return;

  const double error = search.product_error(chunk, block, tile);
  const DistanceForm form = search.form(error, farthest);
  squared_distances(form, chunk.packed, block, search.points(), tile, buffer);
  for (index_t r = 0; r < n_rows; ++r) {
    const T* D = buffer.value[r];
    Candidates& mine = candidates[static_cast<std::size_t>(first + r)];
    T limit = search.computed_limit(form, mine.reach(), error);
    if (!any_less<T>(row_minimum<T>(D, tile.n_vectors), broadcast<T>(limit))) continue;
    for (int v = 0; v < tile.n_vectors; ++v) {
      scan<T>(D, v, broadcast<T>(limit), [&](int j) {
        mine.add(search.bounds(form, D[j], error), search.points().source()[static_cast<std::size_t>(tile.first + j)]);
      });
      if (!mine.wants_compaction()) continue;
      mine.compact([&](index_t point) { return search.exact(chunk.rows[first + r], point); });
      limit = search.computed_limit(form, mine.reach(), error);
    }
  }
}

}  // namespace

template <class T>
void nearest_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                       const Execution& execution) {
  const TileSearch<T> search(queries, points, Candidates::bytes(k), execution);
  search.for_each([&](index_t, const typename TileSearch<T>::Chunk& chunk, Checkpoint& checkpoint) {
    std::vector<Candidates> candidates(static_cast<std::size_t>(chunk.n_rows));
    for (Candidates& one : candidates) one.reset(k);
    auto buffer = std::make_unique<TileBuffer<T>>();
    for (const auto& visit : search.visits(chunk)) {
      if (visit.bound > farthest_of(candidates.data(), chunk.n_rows)) break;
      const Tile& tile = search.points().tiles()[visit.tile];
      for (index_t b = 0; b < chunk.packed.n_blocks; ++b) nearest_of_tile(search, chunk, b, tile, candidates, *buffer);
      checkpoint();
    }
    for (index_t r = 0; r < chunk.n_rows; ++r) {
      const index_t query = chunk.rows[r];
      index_t at = query * k;
      const auto exact = [&](index_t point) { return search.exact(query, point); };
      for (const auto& entry : candidates[static_cast<std::size_t>(r)].nearest(exact)) {
        distances[at] = search.distance(entry.upper);
        indices[at++] = entry.index;
      }
    }
  });
}

template <class T>
NeighborLists<T> reverse_neighbors(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                   const Execution& execution) {
  const TileSearch<T> search(queries, points, 1, execution);
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
  search.for_each([&](index_t c, const typename TileSearch<T>::Chunk& chunk, Checkpoint& checkpoint) {
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
          for (int v = 0; v < tile.n_vectors; ++v)
            scan<T>(D, v, load(limits + v * lanes<T>), [&](int j) {
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
