#include "geometry/pruning.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "geometry/exact_distance.hpp"
#include "geometry/points.hpp"
#include "geometry/principal_axes.hpp"
#include "geometry/tile_filter.hpp"
#include "infrastructure/costs.hpp"

namespace spectralcls::detail {

namespace {
std::atomic<Pruning> chosen{Pruning::sampled};
}

Pruning pruning() { return chosen; }
void set_pruning(Pruning choice) { chosen = choice; }

namespace {

constexpr double nowhere = std::numeric_limits<double>::infinity();

// The distances from a query to the nearest point of each label, and the radius of a ball about the query that contains
// as many points as a tile.
struct Nearness {
  std::vector<double> least;
  double tile = 0;
};

// A sample of queries and a sample of points, each spread evenly over all rows.
template <class T>
class Sample {
 public:
  Sample(MatrixView<T> queries, MatrixView<T> points, const SeparateLabels& apart, const Lengths& lengths,
         index_t n_queries, index_t n_points)
      : points_(points), apart_(apart), n_queries_(n_queries), n_points_(n_points) {
    auto take = [&](MatrixView<T> all, index_t count) {
      for (index_t i = 0; i < count; ++i)
        rows_.insert(rows_.end(), all.row(i * all.rows / count), all.row(i * all.rows / count) + points.cols);
    };
    take(queries, n_queries);
    take(points, n_points);
    const MatrixView<T> sample{rows_.data(), n_queries + n_points, points.cols};
    const Geometry geometry = Geometry::of(sample, lengths, Execution{});
    scale_ = geometry.scale;
    const PrincipalAxes axes =
        PrincipalAxes::of(sample, geometry, std::min(TileFilter::most_coordinates - 1, points.cols));
    coordinates_ = axes.coordinates(sample, geometry, Execution{});
    width_ = axes.n_coordinates();
    for (index_t i = 0; i < n_queries; ++i)
      for (index_t j = 0; j < n_points; ++j)
        distances_.push_back(std::sqrt(squared_distance(row(i), row(n_queries + j), points.cols, 1 / geometry.scale)));
  }

  // Extrapolates the nearest distances from the sample to all points, assuming that the number of points in a ball
  // grows as a power of the radius. The exponent is estimated from the 4th and the 64th neighbors in the sample.
  std::vector<Nearness> extrapolated() const {
    constexpr index_t near = 4, far = 64;
    std::vector<double> fourth;
    double spread = 0;
    for (index_t i = 0; i < n_queries_; ++i) {
      std::vector<double> sorted;
      std::copy_if(from(i), from(i) + n_points_, std::back_inserter(sorted),
                   [](double x) { return x > 0; });  // not the query itself
      std::sort(sorted.begin(), sorted.end());
      const bool enough = length(sorted) >= far;
      fourth.push_back(enough ? sorted[near - 1] : 0);
      if (enough) spread += std::log(sorted[far - 1] / sorted[near - 1]);
    }
    const double per_rank =
        std::max(spread, 1e-3) / static_cast<double>(n_queries_) / std::log(static_cast<double>(far) / near);
    std::vector<Nearness> all;
    for (index_t i = 0; i < n_queries_; ++i) {
      auto radius = [&](double rank) {  // distance of the rank-th nearest of all points
        return fourth[i] *
               std::pow(rank * static_cast<double>(n_points_) / static_cast<double>(points_.rows) / near, per_rank);
      };
      Nearness nearness{std::vector<double>(apart_.n_labels, nowhere), radius(TileFilter::typical_points)};
      for (index_t j = 0; j < n_points_; ++j)
        if (const std::int64_t label = label_of(j); label >= 0 && from(i)[j] > 0)
          nearness.least[label] = std::min(nearness.least[label], from(i)[j]);
      const double nearest = *std::min_element(nearness.least.begin(), nearness.least.end());
      for (double& least : nearness.least)
        if (least != nowhere) least = radius(1) * (least > nearest ? least / nearest : 1);
      all.push_back(std::move(nearness));
    }
    return all;
  }

  // Measures the distances from the first queries of the sample to all points, in T. Distances that overflow are
  // infinite, and distances that underflow to zero are not taken as the nearest.
  std::vector<Nearness> measured(index_t n_queries) const {
    std::vector<Nearness> all;
    std::vector<T> squared(points_.rows), of_nearest;
    for (index_t i = 0; i < n_queries; ++i) {
      std::vector<T> least(apart_.n_labels, std::numeric_limits<T>::infinity());
      for (index_t j = 0; j < points_.rows; ++j) {
        const T one = squared_distance<T>(row(i), points_.row(j), points_.cols, T{1});
        squared[j] = one;
        if (const std::int64_t label = label_of_point(j); label >= 0 && one > 0 && one < least[label])
          least[label] = one;
      }
      const auto nearest = std::min_element(least.begin(), least.end()) - least.begin();
      of_nearest.clear();
      for (index_t j = 0; j < points_.rows; ++j)
        if (label_of_point(j) == nearest) of_nearest.push_back(squared[j]);
      Nearness nearness;
      if (!of_nearest.empty()) {
        const auto last = of_nearest.begin() + std::min(TileFilter::typical_points, length(of_nearest)) - 1;
        std::nth_element(of_nearest.begin(), last, of_nearest.end());
        nearness.tile = std::sqrt(static_cast<double>(*last)) / scale_;
      }
      for (const T one : least) nearness.least.push_back(std::sqrt(static_cast<double>(one)) / scale_);
      all.push_back(std::move(nearness));
    }
    return all;
  }

  // Returns the cost with the filter relative to the cost of all pairs. A pair is dropped if the box of its tile is out
  // of reach, or as soon as the partial sum over the first coordinates is out of reach.
  double share(const std::vector<Nearness>& of_queries, double pair_cost, const SquaredReach& squared_reach) const {
    const double n_pairs = static_cast<double>(of_queries.size()) * static_cast<double>(n_points_);
    double cost = FilterCosts::pass * apart_.n_labels * n_pairs / static_cast<double>(points_.rows);
    std::vector<double> reaches;
    for (index_t i = 0; i < length(of_queries); ++i) {
      const auto& [least, tile] = of_queries[i];
      reaches.clear();
      for (const double nearest : least)
        reaches.push_back(nearest == nowhere ? 0 : std::sqrt(squared_reach(scale_, nearest * nearest)));
      for (index_t j = 0; j < n_points_; ++j) {
        const std::int64_t label = label_of(j);
        if (label >= 0) cost += pair(static_cast<index_t>(i), j, reaches[label], tile, pair_cost);
      }
    }
    return cost / (n_pairs * pair_cost);
  }

 private:
  double pair(index_t i, index_t j, double reach, double tile, double pair_cost) const {
    double cost = FilterCosts::box, partial = 0;
    if (from(i)[j] - 2 * tile > reach) return cost;
    index_t begin = 0;
    for (const index_t segment : TileFilter::segment_ends) {
      const index_t end = std::min(segment, width_);
      for (index_t k = begin; k < end; ++k) {
        const double gap = coordinates_[i * width_ + k] - coordinates_[(n_queries_ + j) * width_ + k];
        partial += gap * gap;
      }
      cost += FilterCosts::coordinate * static_cast<double>(end - begin + 2);
      begin = end;
      if (end == width_ || std::sqrt(partial) - tile > reach) break;
    }
    const double whole = FilterCosts::pair + static_cast<double>(points_.cols);
    return std::sqrt(partial) < reach ? cost + std::min(whole, 2 * pair_cost) : cost;
  }

  const T* row(index_t i) const { return rows_.data() + i * points_.cols; }
  const double* from(index_t query) const { return distances_.data() + query * n_points_; }
  std::int64_t label_of(index_t j) const { return label_of_point(j * points_.rows / n_points_); }
  std::int64_t label_of_point(index_t j) const { return apart_.labels ? apart_.labels[j] : 0; }

  const MatrixView<T> points_;
  const SeparateLabels& apart_;
  const index_t n_queries_, n_points_;
  std::vector<T> rows_;  // queries, then points
  double scale_ = 1;
  index_t width_ = 0;
  AlignedVector<float> coordinates_;
  std::vector<double> distances_;  // between queries and points of the sample
};

}  // namespace

template <class T>
bool filter_may_pay(MatrixView<T> queries, MatrixView<T> points, const SeparateLabels& apart, const Lengths& lengths,
                    double pair_cost, const SquaredReach& squared_reach) {
  // The filter is considered only for at least `from_points` points. A sample has `least_points` ... `most_points`
  // points, and one query for every `points_per_query` points. Distances are measured from `least_measured` ...
  // `most_measured` queries.
  constexpr index_t from_points = 2048, most_points = 512, least_points = 96, points_per_query = 32, least_measured = 3,
                    most_measured = 6;
  const double all = static_cast<double>(queries.rows) * pair_cost, build = FilterCosts::build(points.cols);
  if (points.rows < from_points || build > FilterCosts::gain * all) return false;
  // The size of the sample follows from its cost, most of which is the computation of the axes.
  const double affordable =
      FilterCosts::sampling * all * static_cast<double>(points.rows) / FilterCosts::sample(points.cols);
  const index_t n_points = static_cast<index_t>(static_cast<double>(most_points) * std::min(affordable, 1.0));
  if (n_points < least_points) return false;
  const index_t n_queries = n_points / points_per_query;
  const Sample<T> sample(queries, points, apart, lengths, n_queries, n_points);
  const double share = sample.share(sample.extrapolated(), pair_cost, squared_reach);
  if (build + share * all >= FilterCosts::gain * all) return false;
  // If points lie near a surface of few dimensions, with a little noise, nearest neighbors are farther away than
  // extrapolated. A moderate gain must therefore be confirmed by measured distances before the points are packed.
  if (build + FilterCosts::misjudged * share * all < FilterCosts::gain * all) return true;
  const double affordable_queries = FilterCosts::measuring * all / FilterCosts::distance(points.cols);
  const index_t n_measured =
      std::clamp(static_cast<index_t>(affordable_queries), least_measured, std::min(n_queries, most_measured));
  const double measured = sample.share(sample.measured(n_measured), pair_cost, squared_reach);
  return build + measured * all < FilterCosts::measured_gain * all;
}

template bool filter_may_pay(MatrixView<float>, MatrixView<float>, const SeparateLabels&, const Lengths&, double,
                             const SquaredReach&);
template bool filter_may_pay(MatrixView<double>, MatrixView<double>, const SeparateLabels&, const Lengths&, double,
                             const SquaredReach&);

}  // namespace spectralcls::detail
