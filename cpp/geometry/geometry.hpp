// Where points and queries lie in the coordinates of the core: scaled, centered if distances are computed from
// products, and so that a value far from all others, such as one that stands for missing data, changes no distance
// between the others.
#pragma once

#include <limits>
#include <vector>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

// The lengths that matter besides the distances of the points, such as bandwidths: the smallest and the largest. 0: not
// known; the smallest is then guessed to be far below the distances of near points.
struct Lengths {
  double least = 0, largest = 0;
};

// The scale is a power of two, so scaling is exact, and differences of scaled coordinates lose no digits. Coordinates
// beyond `limit`, whose squares might overflow, are replaced: numbers that large are either equal or differ by many
// lengths, so equal ones get equal coordinates, and different ones get coordinates that are far apart, in their order.
struct Geometry {
  std::vector<double> center;  // placed; near most points, as far as a sample can tell, which only affects speed
  // About the largest distance of a coordinate from the center or, if that is larger, the largest length. At most
  // most_scales<T> times the least length: distances that matter do not underflow, however far some points are.
  double scale = 1;
  double limit = 0;
  std::vector<std::vector<double>> far;  // for each column, the values of the points beyond the limit, sorted; or empty

  template <class T>
  static Geometry of(MatrixView<T> points, const Lengths& lengths, const Execution& execution);

  // Returns a coordinate of feature k, scaled but not centered, and replaced by one of at most twice the limit if it is
  // beyond.
  double placed(double x, index_t k) const;
  // Returns the largest squared norm of the points about the center, scaled, without replacements.
  template <class T>
  double largest_norm(MatrixView<T> points, const Execution& execution) const;
};

// The largest scale, in units of the least length. The squares of distances of a billionth of this length are then
// normal numbers of type T, in up to 1000 features.
template <class T>
constexpr double most_scales = sizeof(T) == 4 ? 0x1p36 : 0x1p440;

// Returns a value of column k that is close to many values, from a sample of at most `most` rows: the median of the
// interval of the given width with the most different values, so that no repeated value outvotes the others.
template <class T>
double crowded_value(MatrixView<T> points, index_t k, index_t most, double width);

}  // namespace spectralcls
