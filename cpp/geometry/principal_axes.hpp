// Orthonormal axes along which the points spread most. The coordinates of two points along a few of these axes give a
// lower bound on their distance.
#pragma once

#include <vector>

#include "geometry/points.hpp"

namespace spectralcls {

class PrincipalAxes {
 public:
  static constexpr index_t most = 32;

  // Computes at most `n_axes` axes about the center of `geometry` from a sample of the points.
  template <class T>
  static PrincipalAxes of(MatrixView<T> points, const Geometry& geometry, index_t n_axes);

  // The number of coordinates of a point: one along each axis and, if there are fewer axes than features, the length of
  // the component orthogonal to all axes. This length comes first. Any subset of the coordinates gives a lower bound on
  // the distance of two points.
  index_t n_coordinates() const { return n_axes_ + (n_axes_ < d_); }

  // Returns the scaled coordinates of the points, row by row.
  template <class T>
  AlignedVector<float> coordinates(MatrixView<T> points, const Geometry& geometry, const Execution& execution) const;

 private:
  index_t n_axes_ = 0, d_ = 0;
  AlignedVector<double> axes_;  // (d, most), row-major
};

}  // namespace spectralcls
