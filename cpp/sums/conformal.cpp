// The rank of a query in a class depends on the odds of all points after the query joined the class. These odds are
// computed once for all classes, because they differ only between the points of the class and all others. For
// prediction sets, ranks on either side of a number need not be told apart, and Markov's inequality decides nearly all:
// the sum of the relative changes bounds how many points change their odds by more than a step, and a binary search
// counts those farther from the query's odds. Only one to two in a hundred ranks are then counted.
#include "sums/conformal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "infrastructure/memory.hpp"
#include "sums/profile.hpp"

namespace spectralcls {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Changes of log odds, and the relative changes of the odds upwards and downwards. With more steps, or others, as many
// ranks are undecided.
struct Step {
  double log, up, down;
};
const Step steps[] = {{0.1, std::expm1(0.1), -std::expm1(-0.1)},
                      {0.03, std::expm1(0.03), -std::expm1(-0.03)},
                      {0.4, std::expm1(0.4), -std::expm1(-0.4)}};
const Step& largest_step = steps[2];

double log_quotient(double own, double others) { return own == -infinity ? own : own - others; }

// Numbers in ascending order, and the total weight of the first ones.
class Ranking {
 public:
  // The numbers belong to rows, which have weights.
  Ranking(std::vector<std::pair<double, index_t>> numbers, const double* weights) : before_{0} {
    std::sort(numbers.begin(), numbers.end());
    for (const auto& [number, row] : numbers) {
      numbers_.push_back(number);
      rows_.push_back(row);
      before_.push_back(before_.back() + weights[row]);
    }
  }
  const std::vector<index_t>& rows() const { return rows_; }

  // Returns how many numbers are at most `limit`. No branch depends on the numbers.
  index_t count(double limit) const {
    if (numbers_.empty()) return 0;
    const double* first = numbers_.data();
    for (index_t n = length(numbers_); n > 1; n -= n / 2) first += first[n / 2 - 1] <= limit ? n / 2 : 0;
    return first - numbers_.data() + (*first <= limit);
  }
  double weight(double limit) const { return weight_of_first(count(limit)); }
  double weight_of_first(index_t n) const { return before_[n]; }
  // Returns the least number with more than this weight of numbers up to it.
  double exceeding(double limit) const {
    const index_t n = std::upper_bound(before_.begin(), before_.end(), limit) - before_.begin();
    return n == 0 ? -infinity : n <= length(numbers_) ? numbers_[n - 1] : infinity;
  }
  // The same, without the weight of other numbers.
  double exceeding(double limit, const Ranking& without) const {
    const auto at = std::partition_point(numbers_.begin(), numbers_.end(), [&](double number) {
      return weight(number) - without.weight(number) <= limit;
    });
    return at == numbers_.end() ? infinity : *at;
  }

 private:
  std::vector<double> numbers_, before_;
  std::vector<index_t> rows_;
};

// Replaces values by exp(value - shift), at most 2^1000.
void exponentiate(AlignedVector<double>& values, double shift) {
  for (index_t at = 0; at < length(values); at += lanes<double>) {
    Vec<double> x[1] = {(load(values.data() + at) - shift) * (1 / ln2)};
    x[0] = minimum<double>(x[0], broadcast(1000.0)) + exp2_bias<double>;
    exp2_biased<double, 1>(x);
    store(values.data() + at, x[0]);
  }
}

// log(1 + u) = 2 artanh(u / (2 + u)) for u in [-1/2, 1].
SPECTRALCLS_INLINE Vec<double> log_one_plus(Vec<double> u) {
  constexpr int n_terms = 17;  // of artanh's series, up to 1/3
  const Vec<double> z = u / (2 + u), square = z * z;
  Vec<double> sum = broadcast(1.0 / (2 * n_terms - 1));
#pragma GCC unroll 17
  for (int i = n_terms - 1; i > 0; --i) sum = sum * square + 1.0 / (2 * i - 1);
  return 2 * z * sum;
}

// log(exp(a) + exp(b))
SPECTRALCLS_INLINE Vec<double> log_sum(Vec<double> a, Vec<double> b) {
  const Vec<double> most = maximum<double>(a, b);
  Vec<double> u[1] = {minimum<double>((minimum<double>(a, b) - most) * (1 / ln2), Vec<double>{}) + exp2_bias<double>};
  exp2_biased<double, 1>(u);  // of 0 if both are -infinity
  return most + log_one_plus(u[0]);
}

constexpr index_t whole_vectors(index_t n) { return (n + lanes<double> - 1) / lanes<double> * lanes<double>; }

// Logarithmic odds of n classes, given their logarithmic sums and the background. `sums` and `odds` are padded to whole
// vectors, `sums` with -infinity.
void find_odds(const AlignedVector<double>& sums, index_t n, double log_background, double rounding,
               AlignedVector<double>& odds) {
  constexpr double far = 600;  // differences of logarithms up to which quotients are normal numbers
  const index_t best = std::max_element(sums.begin(), sums.begin() + n) - sums.begin();
  const double most = std::max(sums[best], log_background);
  std::copy(sums.begin(), sums.end(), odds.begin());
  if (most == -infinity) return;
  exponentiate(odds, most);
  double rest = std::exp(log_background - most), second = log_background;  // sum of all terms but the best
  for (index_t j = 0; j < n; ++j) {
    if (j == best) continue;
    rest += odds[j];
    second = std::max(second, sums[j]);
  }
  const double total = rest + odds[best], log_total = most + std::log(total);
  if (most - second > far && second > -infinity) {  // the rest relative to its largest term
    rest = std::exp(log_background - second);
    for (index_t j = 0; j < n; ++j) rest += j == best ? 0 : std::exp(sums[j] - second);
  } else {
    second = most;
  }
  for (index_t at = 0; at < length(odds); at += lanes<double>) {
    // Half of the total at least remains if a term other than the best is left out.
    const Vec<double> own = load(sums.data() + at), share = load(odds.data() + at) * (1 / total);
    store(odds.data() + at, own - (log_total + log_one_plus(-minimum<double>(share, broadcast(0.5)))));
  }
  odds[best] = log_quotient(sums[best], second + std::log(rest));
  for (index_t j = 0; j < n; ++j) odds[j] += rounding * (std::isinf(sums[j]) ? 1.0 : std::max(1.0, std::abs(sums[j])));
}

}  // namespace

// The points by their odds, in groups.
class ConformalRanks {
 public:
  static constexpr int n_vectors = 4;
  static constexpr index_t group = n_vectors * lanes<double>;

  explicit ConformalRanks(const LeftOutSums& sums)
      : kernel(sums.kernel),
        d(sums.points.cols),
        n((sums.points.rows + group - 1) / group * group),
        log_least_sum(sums.log_least_sum),
        log_largest_share(sums.log_largest_share),
        log_factors(sums.log_factors, sums.log_factors + sums.n_classes) {
    std::vector<std::vector<std::pair<double, index_t>>> numbers(sums.n_classes + 1);
    for (index_t i = 0; i < sums.points.rows; ++i)
      for (const index_t c : {static_cast<index_t>(sums.codes[i]), sums.n_classes})
        numbers[c].push_back({log_quotient(sums.own[i], sums.others[i]), i});
    for (auto& each : numbers) rankings.emplace_back(std::move(each), sums.weights);
    for (index_t c = 0; c < sums.n_classes; ++c) rates.push_back(rate<double>(kernel, 1.0, sums.widths[c]));
    for (auto* values : {&own, &others, &odds, &weights, &codes}) values->resize(n);  // the last ones without weight
    coordinates.resize(n * d);
    for (index_t at = 0; at < sums.points.rows; ++at) {
      const index_t i = all().rows()[at];
      own[at] = sums.own[i];
      others[at] = sums.others[i];
      odds[at] = log_quotient(own[at], others[at]);
      weights[at] = sums.weights[i];
      codes[at] = static_cast<double>(sums.codes[i]);
      if (own[at] < sums.log_least_sum) small += weights[at];
      least_own = std::min(least_own, own[at]);
      least_others = std::min(least_others, others[at]);
      for (index_t a = 0; a < d; ++a) coordinates[(at / group * d + a) * group + at % group] = sums.points.row(i)[a];
    }
  }

  index_t n_classes() const { return length(rates); }
  const Ranking& all() const { return rankings.back(); }

  Kernel kernel;
  index_t d, n;
  double log_least_sum, log_largest_share, least_own = infinity, least_others = infinity;
  double small = 0;  // weight of the points with own < log_least_sum
  std::vector<double> log_factors, rates;
  std::vector<Ranking> rankings;  // of the odds in each class, and of all
  AlignedVector<double> own, others, odds, weights, codes, coordinates;
};

namespace {

// Odds of a query that decide most ranks without a search.
struct Thresholds {
  double beyond, in, most_changes, out, most_rest;

  Thresholds(const ConformalRanks& points, index_t c, bool within, double number) : beyond(number) {
    constexpr double margin = 0.25;
    const Ranking &mates = points.rankings[c], &all = points.all();
    const double spare = margin * beyond - points.small;
    if (within) {
      in = mates.exceeding((1 + margin) * beyond) + largest_step.log;
      most_changes = spare * largest_step.up;
      out = mates.exceeding(beyond);
      most_rest = infinity;
    } else {
      in = all.exceeding(beyond, mates);
      most_changes = infinity;
      out = all.exceeding((1 - margin) * beyond) - largest_step.log;
      most_rest = spare * largest_step.down / std::exp(out);
    }
  }
};

// A query that joins one class after the other.
class Joined {
 public:
  Joined(const ConformalRanks& points, const JoiningQueries& queries, const std::vector<Thresholds>& thresholds)
      : points_(points),
        queries_(queries),
        thresholds_(thresholds),
        sums_(whole_vectors(points.n_classes()), -infinity),
        limits_(sums_.size()),
        changes_(sums_.size(), -infinity),
        log_k_(points.n),
        known_for_(points.n / ConformalRanks::group) {}

  void operator()(index_t query, bool within, double* weights) {
    const index_t n_classes = points_.n_classes(), n_columns = queries_.n_columns;
    const double* sums = queries_.sums + query * n_classes * n_columns;
    const bool decides = !thresholds_.empty();
    within_ = within;
    log_weight_ = queries_.log_weights[query];
    std::fill(known_for_.begin(), known_for_.end(), -1);
    query_ = queries_.points.row(query);
    total_change_ = 0;
    for (index_t c = 0; c < n_classes; ++c, sums += n_columns) {
      sums_[c] = *sums;
      changes_[c] = infinity;
      if (decides && queries_.bounded)
        changes_[c] = std::exp(sums[n_columns - 1] - points_.log_least_sum + log_weight_);
      total_change_ += changes_[c];
    }
    most_share_ = std::min(0.0, *std::max_element(sums_.begin(), sums_.end()) + points_.log_largest_share);
    find_odds(sums_, n_classes, queries_.log_background, queries_.rounding, limits_);
    for (index_t c = 0; c < n_classes; ++c) {
      const Thresholds* at = decides ? &thresholds_[c] : nullptr;
      if (decides && limits_[c] >= at->in && changes_[c] <= at->most_changes) weights[c] = infinity;
      else if (decides && limits_[c] < at->out && total_change_ - changes_[c] <= at->most_rest) weights[c] = 0;
      else weights[c] = weight(c, decides ? &at->beyond : nullptr);
    }
  }

 private:
  // The query lowers the odds of other classes and raises those of its mates. The points up to the limit therefore gain
  // others from beyond and lose mates.
  double weight(index_t c, const double* beyond) {
    const double limit = limits_[c];
    const Ranking &mates = points_.rankings[c], &all = points_.all();
    const index_t n = all.count(limit);
    const double of_mates = mates.weight(limit), before = within_ ? of_mates : all.weight_of_first(n);
    if (std::isinf(limit)) return before;
    if (!beyond) return before - crossing(c, true, 0, n) + (within_ ? 0 : crossing(c, false, n, points_.n));
    double lost = of_mates, gained = within_ ? 0 : infinity, far = 0;  // upper bounds
    index_t end = n;
    const double odds = std::exp(limit), rest = total_change_ - changes_[c];
    for (const Step& step : steps) {
      const double moved = changes_[c] / step.up + points_.small;
      lost = std::min(lost, of_mates - mates.weight(limit - step.log) + moved);
      if (!within_) {
        const index_t near = all.count(limit + step.log);
        end = (near + ConformalRanks::group - 1) / ConformalRanks::group * ConformalRanks::group;
        far = points_.small + odds * rest / step.down;
        gained = std::min(gained, all.weight_of_first(near) - before + far);
      }
      if (before - lost > *beyond) return before - lost;
      if (before + gained <= *beyond) return before + gained;
    }
    double found = before + (within_ ? 0 : crossing(c, false, n, end));
    if (found - lost > *beyond) return found - lost;
    if (found + far <= *beyond) return found;
    found -= crossing(c, true, 0, n);
    if (within_ || found > *beyond || found + far <= *beyond) return found;
    return found + crossing(c, false, end, points_.n);
  }

  // Returns the weight of the points at some places that cross the limit when the query joins class c: of mates, up to
  // the limit, or of others, beyond.
  double crossing(index_t c, bool mates, index_t begin, index_t end) {
    constexpr index_t group = ConformalRanks::group;
    const Vec<double> limit = broadcast(limits_[c]), code = broadcast(static_cast<double>(c));
    const AlignedVector<double>& sums = mates ? points_.own : points_.others;  // to which k is added
    const double most_k = most_share_ + log_weight_ + points_.log_factors[c];
    // The odds change by at most the factor 1 + k / sum <= 2 max(1, k / sum).
    const double reach = ln2 + std::max(0.0, most_k - (mates ? points_.least_own : points_.least_others));
    if (mates && reach < infinity) begin = std::max(begin, points_.all().count(limits_[c] - reach));
    if (!mates) end = std::min(end, points_.all().count(limits_[c] + reach));
    Vec<double> total = {};
    for (index_t at = begin / group * group; at < (end + group - 1) / group * group; at += lanes<double>) {
      const Vec<double> sum = at_place(sums, at), odds = at_place(points_.odds, at);
      const Bits<double> is_mate = at_place(points_.codes, at) == code,
                         wanted = mates ? is_mate & (odds <= limit) : ~is_mate & (odds > limit);
      auto may_cross = [&](Vec<double> k) {
        const Vec<double> change = maximum<double>(k - sum, Vec<double>{}) + ln2;
        return wanted & ((mates ? limit - odds : odds - limit) <= change);
      };
      if (!sign_bits<double>(may_cross(broadcast(most_k)))) continue;
      find_kernel(c, at / group * group);
      const Vec<double> k = at_place(log_k_, at);
      const Bits<double> asked = may_cross(k);
      if (!sign_bits<double>(asked)) continue;
      const Vec<double> grown = log_sum(sum, k);
      const Bits<double> crosses = mates ? (Bits<double>)(grown - at_place(points_.others, at) > limit)
                                         : (Bits<double>)(at_place(points_.own, at) - grown <= limit);
      total += (Vec<double>)((Bits<double>)at_place(points_.weights, at) & asked & crosses);
    }
    return sum_of_lanes<double>(total);
  }

  // Computes the logarithm of what the query adds to a group of points when it joins class c.
  void find_kernel(index_t c, index_t from) {
    constexpr index_t group = ConformalRanks::group;
    index_t& known_for = known_for_[from / group];
    if (known_for >= 0 && points_.rates[c] == points_.rates[known_for]) return;
    known_for = c;
    const double rate = points_.rates[c];
    Vec<double> k[ConformalRanks::n_vectors] = {};
    const double* x = points_.coordinates.data() + from * points_.d;
    for (index_t a = 0; a < points_.d; ++a)
      for (auto& squared : k) {
        const Vec<double> gap = load(x) - query_[a];
        squared += gap * gap;
        x += lanes<double>;
      }
    with_kernel(points_.kernel, [&](auto kernel) {
      constexpr auto& of = profile<kernel()>;
      if constexpr (of.decay == Decay::exponential)
        for (auto& each : k) each = square_root<double>(each);
      if constexpr (of.decay != Decay::compact && !of.has_factor) {
        for (auto& each : k) each *= -rate * ln2;
      } else {
        kernel_values<kernel(), double, false>(0.0, rate, k);
        for (auto& each : k)
          for (int lane = 0; lane < lanes<double>; ++lane) each[lane] = std::log(each[lane]);
      }
    });
    double* to = log_k_.data() + from;
    for (const auto& each : k)
      store(std::exchange(to, to + lanes<double>), each + (log_weight_ + points_.log_factors[c]));
  }

  static Vec<double> at_place(const AlignedVector<double>& values, index_t at) { return load(values.data() + at); }

  const ConformalRanks& points_;
  const JoiningQueries& queries_;
  const std::vector<Thresholds>& thresholds_;
  bool within_ = false;
  double log_weight_ = 0, most_share_ = 0, total_change_ = 0;
  const double* query_ = nullptr;
  AlignedVector<double> sums_, limits_, changes_, log_k_;
  std::vector<index_t> known_for_;  // for each group, the class for which `log_k_` was computed, or -1
};

}  // namespace

std::shared_ptr<const ConformalRanks> conformal_ranks(const LeftOutSums& sums) {
  return std::make_shared<const ConformalRanks>(sums);
}

void conformal_weights(const ConformalRanks& ranks, const JoiningQueries& queries, bool within, const double* beyond,
                       double* weights, const Execution& execution) {
  constexpr index_t chunk = 64;
  const index_t m = queries.points.rows;
  const double work = static_cast<double>(m) * static_cast<double>(ranks.n * (ranks.d + 50)) / (beyond ? 32 : 4);
  std::vector<Thresholds> thresholds;
  for (index_t c = 0; beyond && c < ranks.n_classes(); ++c) thresholds.emplace_back(ranks, c, within, beyond[c]);
  for_each_chunk((m + chunk - 1) / chunk, execution.for_work(work), [&](index_t c, Checkpoint& checkpoint) {
    const FlushSubnormals guard;
    Joined joined(ranks, queries, thresholds);
    for (index_t i = c * chunk; i < std::min((c + 1) * chunk, m); ++i) {
      joined(i, within, weights + i * ranks.n_classes());
      checkpoint();
    }
  });
}

void log_odds(MatrixView<double> sums, double log_background, double rounding, double* odds) {
  const FlushSubnormals guard;
  AlignedVector<double> own(whole_vectors(sums.cols), -infinity), out(own.size());
  for (index_t i = 0; i < sums.rows; ++i) {
    std::copy_n(sums.row(i), sums.cols, own.begin());
    find_odds(own, sums.cols, log_background, rounding, out);
    std::copy_n(out.begin(), sums.cols, odds + i * sums.cols);
  }
}

}  // namespace spectralcls
