// Points that Python keeps for many calls.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "arguments.hpp"

namespace spectralcls::bindings {

constexpr index_t largest_int = std::numeric_limits<int>::max();

// Points with their weights and labels. `cache` holds the points packed for many calls; it is nullptr for
// the points of a single call.
template <class T>
struct GivenPoints {
  Array<T> points;
  std::optional<Array<T>> weights;
  Integers labels;
  int n_labels;
  std::shared_ptr<const PackedPointsCache<T>> cache;

  GivenPoints(const py::handle& x, const py::handle& l, const py::handle& n) : points(matrix<T>(x, "X")) {
    if (points.shape(0) == 0) refuse("X must have at least one row.");
    n_labels = static_cast<int>(integer(n, "n_labels", 1, largest_int));
    labels = integers(l, "labels", points.shape(0), no_least, n_labels - 1);
  }
  index_t rows() const { return points.shape(0); }
};

// Returns f(points) for the packed points, in float or double, that a Python object holds.
template <class F>
auto with_points(const py::object& given, F&& f) {
  if (py::isinstance<GivenPoints<float>>(given)) return f(given.cast<const GivenPoints<float>&>());
  if (py::isinstance<GivenPoints<double>>(given)) return f(given.cast<const GivenPoints<double>&>());
  refuse_type("X", "packed points", given);
}

}  // namespace spectralcls::bindings
