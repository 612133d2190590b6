#include "sums/label_rule.hpp"

#include "sums/label_decision.hpp"

namespace spectralcls {

template <class T>
void certain_labels(const BoundedClassSums<T>& of, const LabelRule& rule, std::int64_t* labels) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const index_t n_columns = rule.n_columns, size = rule.n_labels * n_columns;
  LabelDecision decision(rule);
  std::vector<double> low(size), high(size), scale(rule.n_labels), total(n_columns);
  for (index_t i = 0; i < of.n_queries; ++i) {
    const T* sums = of.sums + i * size;
    double top = -std::numeric_limits<double>::max();
    for (int l = 0; l < rule.n_labels; ++l) {
      const T* own = sums + l * n_columns;
      const bool empty = std::all_of(own, own + n_columns, [](T sum) { return sum == 0; });
      scale[l] = empty ? -infinity : static_cast<double>(of.log_scale[i * rule.n_labels + l]);
      top = std::max(top, scale[l]);
    }
    // The rounding error of a label's exponents is that of `top` plus that of the label's distance from `top`.
    const double slack = decision.rounding(top);
    std::fill(total.begin(), total.end(), 0.0);
    for (int l = 0; l < rule.n_labels; ++l) {
      const double gap = scale[l] - top, factor = std::exp((1 - rule.step) * gap + slack);
      const double shrink = std::max(1 + 2 * rule.step * gap, 0.0) * std::exp(-2 * slack);
      for (index_t c = 0; c < n_columns; ++c) {
        const index_t at = l * n_columns + c;
        high[at] = gap == -infinity ? 0.0 : static_cast<double>(sums[at]) * factor;
        low[at] = high[at] * shrink;
        total[c] += high[at];
      }
    }
    for (index_t at = 0; at < size; ++at) high[at] += of.missing[at] * total[at % n_columns];
    labels[i] = decision.label(low.data(), high.data(), top);
  }
}

template void certain_labels(const BoundedClassSums<float>&, const LabelRule&, std::int64_t*);
template void certain_labels(const BoundedClassSums<double>&, const LabelRule&, std::int64_t*);

}  // namespace spectralcls
