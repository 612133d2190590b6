#include "base/skipping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

#include "base/costs.hpp"
#include "base/exact_distance.hpp"
#include "base/points.hpp"
#include "base/principal_axes.hpp"
#include "base/tile_filter.hpp"

namespace spectralcls::detail {

Skipping skipping() {
  const char* value = std::getenv("SPECTRALCLS_SKIPPING");
  if (value && std::strcmp(value, "always") == 0) return Skipping::always;
  if (value && std::strcmp(value, "never") == 0) return Skipping::never;
  return Skipping::sampled;
}

namespace {

// What a look through the filter takes relative to all pairs, from the distances among a sample. The pair's tile is
// passed by if it is out of sight by its box, or after the first coordinates.
template <class T>
double predicted_share(MatrixView<T> queries, MatrixView<T> points, const SeenApart& apart, index_t n_queries,
                       index_t n_points, double length, double pair_cost, const SquaredReach& squared_reach) {
  constexpr index_t near = 4, far = 64;
  const index_t d = points.cols;
  std::vector<T> some;
  auto take = [&](MatrixView<T> all, index_t count) {
    for (index_t i = 0; i < count; ++i)
      some.insert(some.end(), all.row(i * all.rows / count), all.row(i * all.rows / count) + d);
  };
  take(queries, n_queries);
  take(points, n_points);
  const MatrixView<T> sample{some.data(), n_queries + n_points, d};
  const Geometry geometry = Geometry::of(sample, length, Execution{});
  const PrincipalAxes axes = PrincipalAxes::of(sample, geometry, std::min(TileFilter::most_coordinates - 1, d));
  const AlignedVector<float> coordinates = axes.coordinates(sample, geometry, Execution{});
  const index_t width = axes.n_coordinates();

  std::vector<double> whole(static_cast<std::size_t>(n_queries * n_points)), fourth;
  double spread = 0;
  for (index_t i = 0; i < n_queries; ++i) {
    double* of_query = whole.data() + i * n_points;
    for (index_t j = 0; j < n_points; ++j)
      of_query[j] = std::sqrt(squared_distance(sample.row(i), sample.row(n_queries + j), d, 1 / geometry.scale));
    std::vector<double> sorted;
    std::copy_if(of_query, of_query + n_points, std::back_inserter(sorted),
                 [](double x) { return x > 0; });  // not itself
    std::sort(sorted.begin(), sorted.end());
    const bool enough = sorted.size() >= far;
    fourth.push_back(enough ? sorted[near - 1] : 0);
    if (enough) spread += std::log(sorted[far - 1] / sorted[near - 1]);
  }
  // Balls of points grow as their radius to the power of the dimension about here: so far is the r-th nearest of n.
  const double per_rank = std::max(spread, 1e-3) / n_queries / std::log(static_cast<double>(far) / near);
  auto radius = [&](index_t i, double rank) {
    return fourth[static_cast<std::size_t>(i)] *
           std::pow(rank * static_cast<double>(n_points) / static_cast<double>(points.rows) / near, per_rank);
  };
  auto label_of = [&](index_t j) { return apart.labels ? apart.labels[j * points.rows / n_points] : 0; };
  double cost =
      FilterCosts::pass * static_cast<double>(apart.n_labels * n_queries * n_points) / static_cast<double>(points.rows);
  std::vector<double> nearest(static_cast<std::size_t>(apart.n_labels)), reaches(nearest.size());
  for (index_t i = 0; i < n_queries; ++i) {
    const double least = radius(i, 1), tile = radius(i, TileFilter::typical_points);
    const double* of_query = whole.data() + i * n_points;
    std::fill(nearest.begin(), nearest.end(), std::numeric_limits<double>::infinity());
    for (index_t j = 0; j < n_points; ++j)
      if (const std::int64_t label = label_of(j); label >= 0 && of_query[j] > 0)
        nearest[static_cast<std::size_t>(label)] = std::min(nearest[static_cast<std::size_t>(label)], of_query[j]);
    const double nearest_of_all = *std::min_element(nearest.begin(), nearest.end());
    for (std::size_t label = 0; label < nearest.size(); ++label) {
      const double farther = least * (nearest[label] > nearest_of_all ? nearest[label] / nearest_of_all : 1);
      reaches[label] = std::isinf(farther) ? 0 : std::sqrt(squared_reach(geometry.scale, farther * farther));
    }
    for (index_t j = 0; j < n_points; ++j) {
      const std::int64_t label = label_of(j);
      if (label < 0) continue;
      const double distance = of_query[j], reach = reaches[static_cast<std::size_t>(label)];
      cost += FilterCosts::box;
      if (distance - 2 * tile > reach) continue;
      double partial = 0;
      index_t begin = 0;
      for (const index_t segment : TileFilter::segment_ends) {
        const index_t end = std::min(segment, width);
        for (index_t k = begin; k < end; ++k) {
          const double gap = coordinates[static_cast<std::size_t>(i * width + k)] -
                             coordinates[static_cast<std::size_t>((n_queries + j) * width + k)];
          partial += gap * gap;
        }
        cost += FilterCosts::coordinate * static_cast<double>(end - begin + 2);
        begin = end;
        if (end == width || std::sqrt(partial) - tile > reach) break;
      }
      if (std::sqrt(partial) < reach) cost += std::min(FilterCosts::pair + static_cast<double>(d), 2 * pair_cost);
    }
  }
  return cost / (static_cast<double>(n_queries * n_points) * pair_cost);
}

}  // namespace

template <class T>
bool filter_looks_good(MatrixView<T> queries, MatrixView<T> points, const SeenApart& apart, double length,
                       double pair_cost, const SquaredReach& squared_reach) {
  constexpr index_t from_points = 2048, from_features = 4, most_points = 512, least_points = 96, points_per_query = 32;
  const double all = static_cast<double>(queries.rows) * pair_cost, build = FilterCosts::build(points.cols);
  if (points.rows < from_points || points.cols < from_features || build > FilterCosts::gain * all) return false;
  // The sample is as large as its own cost allows, most of which are its axes: so much a point.
  const double affordable =
      FilterCosts::sampling * all * static_cast<double>(points.rows) / FilterCosts::sample(points.cols);
  const index_t n_points = static_cast<index_t>(static_cast<double>(most_points) * std::min(affordable, 1.0));
  if (n_points < least_points) return false;
  const index_t n_queries = n_points / points_per_query;
  return build + all * predicted_share(queries, points, apart, n_queries, n_points, length, pair_cost, squared_reach) <
         FilterCosts::gain * all;
}

template bool filter_looks_good(MatrixView<float>, MatrixView<float>, const SeenApart&, double, double,
                                const SquaredReach&);
template bool filter_looks_good(MatrixView<double>, MatrixView<double>, const SeenApart&, double, double,
                                const SquaredReach&);

}  // namespace spectralcls::detail
