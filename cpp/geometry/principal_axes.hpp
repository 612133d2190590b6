// Orthonormal axes along which points spread most: a few coordinates in them bound a distance from below.
#pragma once

#include <vector>

#include "geometry/points.hpp"

namespace spectralcls {

class PrincipalAxes {
 public:
  static constexpr index_t most = 32;

  // About the center of `geometry`, from a sample of the points; at most `n_axes` of them.
  template <class T>
  static PrincipalAxes of(MatrixView<T> points, const Geometry& geometry, index_t n_axes);

  // Coordinates along the axes, after the length of the rest where there are fewer axes than features. Distances
  // between coordinates never exceed those between points, whichever coordinates are left out.
  index_t n_coordinates() const { return n_axes_ + (n_axes_ < d_); }

  // Rows of coordinates, scaled.
  template <class T>
  AlignedVector<float> coordinates(MatrixView<T> points, const Geometry& geometry, const Execution& execution) const;

 private:
  index_t n_axes_ = 0, d_ = 0;
  AlignedVector<double> axes_;  // (d, most) by rows
};

extern template PrincipalAxes PrincipalAxes::of(MatrixView<float>, const Geometry&, index_t);
extern template PrincipalAxes PrincipalAxes::of(MatrixView<double>, const Geometry&, index_t);
extern template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<float>, const Geometry&,
                                                                const Execution&) const;
extern template AlignedVector<float> PrincipalAxes::coordinates(MatrixView<double>, const Geometry&,
                                                                const Execution&) const;

}  // namespace spectralcls
