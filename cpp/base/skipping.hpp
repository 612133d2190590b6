// Whether to look for pairs that can be left out unseen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "base/points.hpp"
#include "base/principal_axes.hpp"

namespace spectralcls::detail {

// SPECTRALCLS_SKIPPING: "always" or "never", for tests and measurements; otherwise samples decide.
enum class Skipping { sampled, always, never };
inline Skipping skipping() {
  const char* value = std::getenv("SPECTRALCLS_SKIPPING");
  if (value && std::strcmp(value, "always") == 0) return Skipping::always;
  if (value && std::strcmp(value, "never") == 0) return Skipping::never;
  return Skipping::sampled;
}

// Whether what has to be built first is little beside all pairs.
inline bool building_is_cheap(index_t n_queries, index_t n_points, index_t d) {
  constexpr index_t from_queries = 1024, from_points = 2048, from_features = 4;
  constexpr double build_operations = 12000;  // of a point, in multiply-adds on single numbers
  constexpr double most = 0.03;
  return n_queries >= from_queries && n_points >= from_points && d >= from_features &&
         build_operations <= most * static_cast<double>(n_queries) * static_cast<double>(d + 16);
}

// Whether of some pairs few are in sight in most of their principal coordinates, which sorts out noise before anything
// has been built. squared_reach(unit, least): how far a query sees whose nearest point is that far, both squared and in units.
template <class T, class SquaredReach>
bool few_in_sight(MatrixView<T> queries, MatrixView<T> points, double length, SquaredReach&& squared_reach) {
  constexpr index_t n_queries = 24, n_points = 768;
  constexpr double few = 0.25;
  const index_t d = points.cols;
  std::vector<T> some;
  auto take = [&](MatrixView<T> all, index_t count) {
    for (index_t i = 0; i < count; ++i) some.insert(some.end(), all.row(i * all.rows / count), all.row(i * all.rows / count) + d);
  };
  take(queries, n_queries);
  take(points, std::min(points.rows, n_points));
  const MatrixView<T> sample{some.data(), static_cast<index_t>(some.size()) / d, d};
  const Geometry geometry = Geometry::of(sample, length, Execution{});
  const PrincipalAxes axes = PrincipalAxes::of(sample, geometry, std::min<index_t>(31, (3 * d + 3) / 4));
  const AlignedVector<float> coordinates = axes.coordinates(sample, geometry, Execution{});
  const index_t width = axes.n_coordinates();
  index_t within = 0;
  std::vector<double> partial(static_cast<std::size_t>(sample.rows));
  for (index_t i = 0; i < n_queries; ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (index_t j = n_queries; j < sample.rows; ++j) {
      double part = 0, whole = 0;
      for (index_t k = 0; k < width; ++k) {
        const double gap = coordinates[static_cast<std::size_t>(i * width + k)] - coordinates[static_cast<std::size_t>(j * width + k)];
        part += gap * gap;
      }
      for (index_t k = 0; k < d; ++k) {
        const double gap = (static_cast<double>(sample.row(i)[k]) - static_cast<double>(sample.row(j)[k])) / geometry.unit;
        whole += gap * gap;
      }
      partial[static_cast<std::size_t>(j)] = part;
      if (whole > 0) least = std::min(least, whole);  // perhaps the query itself
    }
    const double squared = squared_reach(geometry.unit, std::isfinite(least) ? least : 0.0);
    for (index_t j = n_queries; j < sample.rows; ++j) within += partial[static_cast<std::size_t>(j)] < squared;
  }
  return static_cast<double>(within) < few * static_cast<double>(n_queries * (sample.rows - n_queries));
}

}  // namespace spectralcls::detail
