// Points that Python keeps for many calls.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "arguments.hpp"

namespace spectralcls::bindings {

constexpr index_t largest_int = std::numeric_limits<int>::max();

// Checked points with their weights and labels. `cache` holds the points packed for many calls; it is nullptr for the
// points of a single call.
template <class T>
struct GivenPoints {
  Array<T> points;
  std::optional<Array<T>> weights;
  Integers labels;
  int n_labels;
  std::shared_ptr<const PackedPointsCache<T>> cache;

  index_t rows() const { return points.shape(0); }
};

// Returns f(points) for the points, in float or double, that a Python object holds.
template <class F>
auto with_points(const py::object& given, F&& f) {
  if (py::isinstance<GivenPoints<float>>(given)) return f(given.cast<const GivenPoints<float>&>());
  if (py::isinstance<GivenPoints<double>>(given)) return f(given.cast<const GivenPoints<double>&>());
  refuse_type("X", "points", given);
}

}  // namespace spectralcls::bindings
