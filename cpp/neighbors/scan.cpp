#include "neighbors/scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "geometry/exact_distance.hpp"
#include "infrastructure/simd.hpp"
#include "neighbors/candidates.hpp"

namespace spectralcls::detail {
namespace {

constexpr int together = 4;  // points whose distances are computed together, to hide the latency

// Squared distances between a query and `together` points, in T.
template <class T>
class Distances {
 public:
  explicit Distances(index_t d) : d_(d) {
    for (index_t lane = 0; lane < lanes<T>; ++lane) fresh_[lane] = lane >= lanes<T> - d % lanes<T>;
  }

  void operator()(const T* q, const T* points, T* out) const {
    if (d_ < lanes<T>) return of_few_features(q, points, out);
    Vec<T> sums[together] = {};
    index_t a = 0;
    for (; a + lanes<T> <= d_; a += lanes<T>) {
      const Vec<T> query = load_unaligned(q + a);
      for (int i = 0; i < together; ++i) {
        const Vec<T> gap = query - load_unaligned(points + i * d_ + a);
        sums[i] += gap * gap;
      }
    }
    if (a < d_) {  // the last vector overlaps the previous one
      a = d_ - lanes<T>;
      const Vec<T> query = load_unaligned(q + a);
      for (int i = 0; i < together; ++i) {
        const Vec<T> gap = (query - load_unaligned(points + i * d_ + a)) * fresh_;
        sums[i] += gap * gap;
      }
    }
    for (int i = 0; i < together; ++i) out[i] = static_cast<T>(sum_of_lanes<T>(sums[i]));
  }

 private:
  void of_few_features(const T* q, const T* points, T* out) const {
    for (int i = 0; i < together; ++i) out[i] = 0;
    for (index_t a = 0; a < d_; ++a)
      for (int i = 0; i < together; ++i) {
        const T gap = q[a] - points[i * d_ + a];
        out[i] += gap * gap;
      }
  }

  index_t d_;
  Vec<T> fresh_{};  // 1 in the lanes of the last vector that do not overlap
};

// Finds the points of one part that are nearest to each query, by their exact distances.
template <class T>
class Part {
 public:
  Part(MatrixView<T> queries, MatrixView<T> points, index_t k, index_t begin, index_t end)
      : queries_(queries), points_(points), squared_distances_(points.cols), candidates_(queries.rows) {
    for (Candidates& one : candidates_) one.reset(std::min(k, end - begin));
    const index_t rows = std::max<index_t>(cached / (points.cols * sizeof(T) * together), 1) * together;
    for (index_t from = begin; from < end; from += rows)
      for (index_t q = 0; q < queries.rows; ++q) look(q, from, std::min(from + rows, end));
  }

  // Returns the nearest points of query q, sorted by distance, then by index.
  const std::vector<Candidates::Entry>& nearest(index_t q) {
    return candidates_[q].nearest([&](std::int64_t point) { return exact(q, static_cast<index_t>(point)); });
  }

 private:
  static constexpr index_t cached = 1 << 14;  // bytes of points that stay cached while all queries read them

  void look(index_t q, index_t begin, index_t end) {
    Candidates& mine = candidates_[q];
    T squared[together];
    for (index_t i = begin; i + together <= end; i += together) {
      squared_distances_(queries_.row(q), points_.row(i), squared);
      // The computed squared distance of a point within reach never exceeds this limit.
      const double limit = (mine.reach() + flushed()) * (1 + 2 * rounding());
      for (int j = 0; j < together; ++j)
        if (squared[j] <= limit) add(mine, q, i + j, squared[j]);
    }
    for (index_t i = end - (end - begin) % together; i < end; ++i) {
      const double one = exact(q, i);
      if (one <= mine.reach()) mine.add({one, one}, i);
    }
    compact(mine, q);
  }

  void add(Candidates& mine, index_t q, index_t i, T squared) {
    mine.add({least(squared), squared * (1 + rounding()) + flushed()}, i);
    if (mine.wants_compaction()) compact(mine, q);
  }
  void compact(Candidates& mine, index_t q) {
    mine.compact([&](std::int64_t point) { return exact(q, static_cast<index_t>(point)); });
  }

  double exact(index_t q, index_t i) const {
    return squared_distance(queries_.row(q), points_.row(i), points_.cols, 1.0);
  }
  // Lower bound on the squared distance, given its computed value.
  double least(T squared) const { return squared * (1 - rounding()) - flushed(); }
  double rounding() const { return 2.0 * static_cast<double>(points_.cols + 8) * std::numeric_limits<T>::epsilon(); }
  double flushed() const { return static_cast<double>(points_.cols) * std::numeric_limits<T>::min(); }

  MatrixView<T> queries_, points_;
  Distances<T> squared_distances_;
  std::vector<Candidates> candidates_;
};

}  // namespace

template <class T>
void scan_neighbors(MatrixView<T> queries, MatrixView<T> points, index_t k, T* distances, std::int64_t* indices,
                    const Execution& execution) {
  constexpr index_t coordinates_per_part = 1 << 20;  // one part is one task
  const index_t rows = std::max(coordinates_per_part / std::max<index_t>(points.cols, 8), 4 * k);
  const index_t n_parts = (points.rows + rows - 1) / rows, m = queries.rows;
  std::vector<Candidates::Entry> found(n_parts * m * k);
  std::vector<index_t> sizes(n_parts);
  const double work = static_cast<double>(m * points.rows) * static_cast<double>(points.cols + 8);
  for_each_chunk(n_parts, execution.for_work(work), [&](index_t p, Checkpoint& checkpoint) {
    const index_t begin = p * rows, end = std::min(begin + rows, points.rows);
    Part<T> part(queries, points, k, begin, end);
    sizes[p] = std::min(k, end - begin);
    for (index_t q = 0; q < m; ++q) {
      const auto& nearest = part.nearest(q);
      std::copy(nearest.begin(), nearest.end(), found.begin() + (q * n_parts + p) * k);
    }
    checkpoint();
  });
  std::vector<Candidates::Entry> all;
  for (index_t q = 0; q < m; ++q) {
    all.clear();
    for (index_t p = 0; p < n_parts; ++p) {
      const auto first = found.begin() + (q * n_parts + p) * k;
      all.insert(all.end(), first, first + sizes[p]);
    }
    std::partial_sort(all.begin(), all.begin() + k, all.end(), Candidates::nearer);
    for (index_t i = 0; i < k; ++i) {
      distances[q * k + i] = static_cast<T>(std::sqrt(all[i].upper));
      indices[q * k + i] = all[i].index;
    }
  }
}

template void scan_neighbors(MatrixView<float>, MatrixView<float>, index_t, float*, std::int64_t*, const Execution&);
template void scan_neighbors(MatrixView<double>, MatrixView<double>, index_t, double*, std::int64_t*, const Execution&);

}  // namespace spectralcls::detail
