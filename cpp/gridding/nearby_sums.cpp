#include "gridding/nearby_sums.hpp"

#include <cstring>

#include "sums/exp2.hpp"

namespace spectralcls {

const double* NearbySums::over(const CellBox& box, const Sources& sources, const double* query,
                               const ApproximateSums& request) {
  constexpr index_t n_vectors = 4, batch = n_vectors * lanes<double>;
  constexpr double lowest = -2000;  // smaller exponents are set to this, as for infinite distances
  const index_t d = request.points.cols, n_columns = request.n_columns;
  const double rate = -1.4426950408889634 / (2 * request.bandwidth * request.bandwidth);
  sums_.assign(n_columns, 0.0);
  sources.tree.visit(box, [&](index_t begin, index_t end) {
    for (index_t first = begin; first < end; first += batch) {
      const index_t n = std::min(batch, end - first);
      alignas(64) double values[batch] = {};
      for (index_t k = 0; k < d; ++k) {
        const double* at = sources.coordinates.data() + k * sources.size() + first;
        for (index_t i = 0; i < n; ++i) values[i] += (query[k] - at[i]) * (query[k] - at[i]);
      }
      Vec<double> x[n_vectors];
      for (index_t v = 0; v < n_vectors; ++v)
        x[v] = maximum<double>(load(values + v * lanes<double>) * rate + exp2_bias<double>, broadcast<double>(lowest));
      exp2_biased<double>(x);
      std::memcpy(values, x, sizeof x);
      for (index_t i = 0; i < n; ++i)
        for (index_t c = 0; c < n_columns; ++c) sums_[c] += values[i] * sources.weights[(first + i) * n_columns + c];
    }
  });
  return sums_.data();
}

}  // namespace spectralcls
