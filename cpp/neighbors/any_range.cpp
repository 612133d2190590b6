// Squares of very large or very small coordinates over- or underflow. A power of two as a common factor, which is
// exact, helps unless rows differ in size by more than the range of T, as numbers that stand for missing ones differ
// from others. Such far rows are searched apart: a factor that suits a far row suits its distances to all others,
// because what underflows is nothing relative to them, and another factor suits the near rows. Distances in an extended
// range would take several times as long for all rows, and differences to a center would no longer be exact.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "geometry/largest.hpp"
#include "neighbors/in_range.hpp"

namespace spectralcls {
namespace {

// Binary exponents of the largest coordinate for which 4 d times its square is finite, and the squares of relevant
// differences do not underflow.
template <class T>
constexpr int least_exponent = sizeof(T) == 4 ? -20 : -100;
template <class T>
constexpr int largest_exponent = sizeof(T) == 4 ? 50 : 490;

// Returns the binary exponent of the largest coordinate; one in range if all are 0.
template <class T>
int exponent_of(const T* values, index_t n) {
  int exponent = largest_exponent<T>;
  if (const T largest = largest_size(values, n); largest > 0) std::frexp(largest, &exponent);
  return exponent;
}
template <class T>
int exponent_of(MatrixView<T> rows) {
  return exponent_of(rows.data, rows.rows * rows.cols);
}
template <class T>
bool in_range(int exponent) {
  return least_exponent<T> <= exponent && exponent <= largest_exponent<T>;
}

// Some of the rows, times a power of two.
template <class T>
struct Rows {
  Rows(MatrixView<T> all, const std::vector<index_t>& numbers) {
    for (const index_t i : numbers) values.insert(values.end(), all.row(i), all.row(i) + all.cols);
    view = {values.data(), length(numbers), all.cols};
  }
  std::vector<T> values;
  MatrixView<T> view;
};

// Copies of queries and points. Columns in which all rows are equal are zero: that changes no difference, however large
// the number is.
template <class T>
struct WithoutConstants {
  WithoutConstants(MatrixView<T> queries, MatrixView<T> points)
      : values{{queries.data, queries.row(queries.rows)}, {points.data, points.row(points.rows)}},
        rows{{values[0].data(), queries.rows, queries.cols}, {values[1].data(), points.rows, points.cols}} {
    for (index_t k = 0; k < points.cols; ++k) {
      bool constant = true;
      for (const MatrixView<T>& side : rows)
        for (index_t i = 0; i < side.rows; ++i) constant = constant && side.row(i)[k] == points.row(0)[k];
      if (!constant) continue;
      for (std::vector<T>& side : values)
        for (index_t at = k; at < length(side); at += points.cols) side[at] = 0;
    }
  }
  std::vector<T> values[2];
  MatrixView<T> rows[2];  // queries, points
};

// Calls search(numbers of queries, numbers of points, queries, points, shift) for parts that contain all pairs. Queries
// and points of a part are rows times 2^shift. Of the parts of a query, that of the near points comes first.
template <class T, class Search>
void by_parts(MatrixView<T> queries, MatrixView<T> points, Search&& search) {
  const WithoutConstants<T> all_rows(queries, points);
  std::vector<index_t> near[2], far[2], all[2];
  int least = largest_exponent<T>, largest = least;
  for (const int side : {0, 1}) {
    const MatrixView<T>& rows = all_rows.rows[side];
    for (index_t i = 0; i < rows.rows; ++i) {
      const int exponent = exponent_of(rows.row(i), rows.cols);
      (exponent > largest_exponent<T> ? far : near)[side].push_back(i);
      all[side].push_back(i);
      least = std::min(least, exponent);
      largest = std::max(largest, exponent);
    }
  }
  auto part = [&](const std::vector<index_t>& some, const std::vector<index_t>& others) {
    if (some.empty() || others.empty()) return;
    Rows<T> Q(all_rows.rows[0], some), X(all_rows.rows[1], others);
    const int exponent = std::max(exponent_of(Q.view), exponent_of(X.view));
    const int shift = in_range<T>(exponent) ? 0 : largest_exponent<T> - exponent;
    for (std::vector<T>* values : {&Q.values, &X.values})
      for (T& value : *values) value = std::ldexp(value, shift);
    search(some, others, Q.view, X.view, shift);
  };
  const bool one_suits = least - (largest - largest_exponent<T>) >= least_exponent<T>;
  if (one_suits || (near[0].empty() && near[1].empty())) return part(all[0], all[1]);
  part(far[0], all[1]);
  part(near[0], near[1]);
  part(near[0], far[1]);
}

template <class T>
using Neighbors = std::vector<std::pair<std::int64_t, T>>;  // points and their distances

}  // namespace

template <class T>
void nearest_neighbors(MatrixView<T> queries, MatrixView<T> points, const NeighborIndex<T>* index, index_t k,
                       Search search, T* distances, std::int64_t* indices, const Execution& execution) {
  if (in_range<T>(std::max(exponent_of(queries), index ? index->exponent() : exponent_of(points))))
    return detail::nearest_in_range(queries, points, index, k, search, distances, indices, execution);
  std::vector<Neighbors<T>> found(queries.rows);
  by_parts(queries, points, [&](const auto& some, const auto& others, MatrixView<T> Q, MatrixView<T> X, int shift) {
    const index_t n = std::min(k, X.rows);
    std::vector<T> lengths(Q.rows * n);
    std::vector<std::int64_t> places(lengths.size());
    detail::nearest_in_range<T>(Q, X, nullptr, n, search, lengths.data(), places.data(), execution);
    for (index_t i = 0; i < length(lengths); ++i)
      found[some[i / n]].push_back({others[places[i]], std::ldexp(lengths[i], -shift)});
  });
  for (index_t i = 0; i < queries.rows; ++i) {
    std::stable_sort(found[i].begin(), found[i].end(), [](auto& a, auto& b) { return a.second < b.second; });
    for (index_t j = 0; j < k; ++j) std::tie(indices[i * k + j], distances[i * k + j]) = found[i][j];
  }
}

template <class T>
NeighborLists<T> reverse_neighbors(MatrixView<T> queries, MatrixView<T> points, const T* radii,
                                   const Execution& execution) {
  if (in_range<T>(std::max(exponent_of(queries), exponent_of(points))))
    return detail::reverse_in_range(queries, points, radii, execution);
  std::vector<Neighbors<T>> found(queries.rows);
  by_parts(queries, points, [&](const auto& some, const auto& others, MatrixView<T> Q, MatrixView<T> X, int shift) {
    std::vector<T> limits;
    for (const index_t j : others) limits.push_back(std::ldexp(radii[j], shift));
    const NeighborLists<T> lists = detail::reverse_in_range(Q, X, limits.data(), execution);
    for (index_t i = 0; i < Q.rows; ++i)
      for (index_t at = lists.first[i]; at < lists.first[i + 1]; ++at)
        found[some[i]].push_back({others[lists.indices[at]], std::ldexp(lists.distances[at], -shift)});
  });
  NeighborLists<T> lists{{0}, {}, {}};
  for (Neighbors<T>& of_query : found) {
    std::sort(of_query.begin(), of_query.end());
    for (const auto& [point, distance] : of_query) {
      lists.indices.push_back(point);
      lists.distances.push_back(distance);
    }
    lists.first.push_back(length(lists.indices));
  }
  return lists;
}

template <class T>
std::shared_ptr<const NeighborIndex<T>> index_points(MatrixView<T> points) {
  return std::make_shared<NeighborIndex<T>>(points, exponent_of(points));
}

template std::shared_ptr<const NeighborIndex<float>> index_points(MatrixView<float>);
template std::shared_ptr<const NeighborIndex<double>> index_points(MatrixView<double>);
template void nearest_neighbors(MatrixView<float>, MatrixView<float>, const NeighborIndex<float>*, index_t, Search,
                                float*, std::int64_t*, const Execution&);
template void nearest_neighbors(MatrixView<double>, MatrixView<double>, const NeighborIndex<double>*, index_t, Search,
                                double*, std::int64_t*, const Execution&);
template NeighborLists<float> reverse_neighbors(MatrixView<float>, MatrixView<float>, const float*, const Execution&);
template NeighborLists<double> reverse_neighbors(MatrixView<double>, MatrixView<double>, const double*,
                                                 const Execution&);

}  // namespace spectralcls
