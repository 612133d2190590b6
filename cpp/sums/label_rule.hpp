// The rule that assigns a label to a query, given bounds on its class sums. A label is certain if no other class can
// reach the best score.
#pragma once

#include <cstdint>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

constexpr std::int64_t uncertain_label = -1;

// Scores are exp(log_scale) * s - offsets, where s is the sum of the first column. With `log_share`, the product is
// divided by the square root of the query's density: the sum over the labels of exp(log_share) times the sum of the
// second column.
struct LabelRule {
  int n_labels = 1;
  index_t n_columns = 1;
  const double* log_scale = nullptr;  // (n_labels,)
  const double* offsets = nullptr;    // (n_labels,), infinite for a label that cannot win, or nullptr for zeros
  const double* log_share = nullptr;  // (n_labels,), or nullptr for a density of 1
  // Two computations of a sum differ by at most the fraction rounding + step * (largest_log_sum + |e|), where e is the
  // logarithm of the sum or of its mean term (see LabelDecision::rounding()).
  double rounding = 0, step = 0;
};

// Class sums (n_queries, n_labels, n_columns) with the logarithms of their scales (n_queries, n_labels). The sum of a
// label may be too small by the fraction `missing` (n_labels, n_columns) of the sum of its column over all labels.
template <class T>
struct BoundedClassSums {
  index_t n_queries = 0;
  const T* log_scale = nullptr;
  const T* sums = nullptr;
  const double* missing = nullptr;
};

// Fills `labels` (n_queries,) with the labels that are certain, and with `uncertain_label` for all other queries.
template <class T>
void certain_labels(const BoundedClassSums<T>& sums, const LabelRule& rule, std::int64_t* labels);

}  // namespace spectralcls
