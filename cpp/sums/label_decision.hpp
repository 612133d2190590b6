// Decides the labels of queries, one query at a time, from bounds on the class sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sums/label_rule.hpp"

namespace spectralcls {

class LabelDecision {
 public:
  explicit LabelDecision(const LabelRule& rule) : rule_(rule), factor_(rule.n_labels), upper_(rule.n_labels) {
    const double largest = rule.offsets ? 0.0 : *std::max_element(rule.log_scale, rule.log_scale + rule.n_labels);
    for (int l = 0; l < rule.n_labels; ++l) factor_[l] = std::exp(rule.log_scale[l] - largest);
    if (!rule.log_share) return;
    for (int l = 0; l < rule.n_labels; ++l) share_.push_back(std::exp(rule.log_share[l]));
  }

  // Returns a bound on the relative difference between two computations of a sum, given the logarithm of the sum or of
  // its mean term.
  double rounding(double exponent) const {
    constexpr double largest_log_sum = 16;  // of a sum relative to its scale
    return rule_.rounding + rule_.step * (largest_log_sum + std::abs(exponent));
  }

  // Returns the label of a query, or `uncertain_label`. `low` and `high` (n_labels, n_columns) bound the sums divided
  // by exp(shift). A NaN makes the label uncertain.
  std::int64_t label(const double* low, const double* high, double shift) {
    const index_t n_columns = rule_.n_columns;
    const int n_labels = rule_.n_labels;
    double common_low = rule_.offsets && shift != 0 ? std::exp(shift) : 1, common_high = common_low;
    if (rule_.log_share) {
      double least = 0, most = 0;
      for (int l = 0; l < n_labels; ++l) {
        least += share_[l] * low[l * n_columns + 1];
        most += share_[l] * high[l * n_columns + 1];
      }
      common_high *= std::exp(-(std::log(least) + shift) / 2);
      common_low *= std::exp(-(std::log(most) + shift) / 2);
    }
    best_ = 0;
    for (int l = 0; l < n_labels; ++l) {
      upper_[l] = less_offset(high[l * n_columns] * factor_[l] * common_high, l, 1);
      if (upper_[l] > upper_[best_]) best_ = l;
    }
    product_ = low[best_ * n_columns] * factor_[best_];
    lower_ = less_offset(product_ * common_low, best_, -1);
    for (int l = 0; l < n_labels; ++l)
      if (l != best_ && !(upper_[l] < lower_)) return uncertain_label;
    return lower_ == lower_ && lower_ > -std::numeric_limits<double>::infinity() ? best_ : uncertain_label;
  }

  // Returns whether a label can win, given the bounds of the last query.
  bool can_win(int label) const { return label == best_ || !(upper_[label] < lower_); }
  // Returns a lower bound on the product of factor and sum of the best label of the last query.
  double best_product() const { return product_; }
  double factor(int label) const { return factor_[label]; }

  // Returns the score of a sum for a rule without density, rounded down (`side` -1) or up (1).
  double score(double sum, int label, int side) const { return less_offset(sum * factor_[label], label, side); }

 private:
  // Returns a bound on a score that allows for the rounding of the difference. `side` is 1 for an upper bound and -1
  // for a lower one.
  double less_offset(double product, int label, int side) const {
    if (!rule_.offsets) return product;
    const double offset = rule_.offsets[label], size = std::isfinite(offset) ? std::abs(offset) : 0.0;
    return product - offset + side * 8 * std::numeric_limits<double>::epsilon() * (product + size);
  }

  const LabelRule& rule_;
  std::vector<double> factor_, share_, upper_;
  int best_ = 0;
  double lower_ = 0, product_ = 0;
};

}  // namespace spectralcls
