// Ranks of full conformal prediction: how many training points conform no better than a query that joins them.
#pragma once

#include <cstdint>
#include <memory>

#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

// Training points and logarithms of their sums of kernel values over all other points: over those of their own class,
// and over the other classes and a background. The odds of a point are own / others.
struct LeftOutSums {
  MatrixView<double> points;
  const std::int64_t* codes;
  const double *own, *others, *weights;
  index_t n_classes;
  Kernel kernel;
  const double *widths, *log_factors;  // of each class: the bandwidth, and the factor of the kernel
  double log_least_sum;                // replaces smaller sums in the bounds of JoiningQueries
  double log_largest_share;  // upper bound on the quotient of a kernel value and the sum of its class; or infinity
};

// Queries that join each class in turn, with a logarithmic weight each. A query adds its kernel value k to one sum of
// every point: to `own` in its class, to `others` elsewhere.
struct JoiningQueries {
  MatrixView<double> points;
  // (m, C, n_columns) logarithms: the first column has the class sums. If they are `bounded`, the last column has upper
  // bounds on sums over the points of each class, of weight k exp(log_least_sum) / own.
  const double* sums;
  index_t n_columns;
  bool bounded;
  const double* log_weights;  // (m,)
  double log_background;
  double rounding;  // relative error of the sums; closer odds are ties
};

class ConformalRanks;
std::shared_ptr<const ConformalRanks> conformal_ranks(const LeftOutSums& sums);

// For each query and class, finds the total weight (m, C) of the points, or of the points of the class if `within`,
// whose odds are at most those of the query after it joined the class. If `beyond` is not nullptr, it holds a number
// for each class, and a result only lies on the same side of the number as the weight.
void conformal_weights(const ConformalRanks& ranks, const JoiningQueries& queries, bool within, const double* beyond,
                       double* weights, const Execution& execution);

// Finds the logarithmic odds (m, C) of the classes for queries, plus a bound on their rounding errors.
void log_odds(MatrixView<double> sums, double log_background, double rounding, double* odds);

}  // namespace spectralcls
