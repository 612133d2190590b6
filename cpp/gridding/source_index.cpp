#include "gridding/source_index.hpp"

#include <algorithm>
#include <cmath>

namespace spectralcls {

SourceIndex::SourceIndex(const ApproximateSums& request, const CellGrid& grid)
    : labels_(request.n_labels), largest_(request.n_columns, 0.0), label_of_(request.points.rows, -1) {
  const index_t n = request.points.rows, d = request.points.cols, n_columns = request.n_columns;
  std::vector<std::vector<index_t>> rows(length(labels_));
  for (index_t j = 0; j < n; ++j) {
    const std::int64_t label = request.labels ? request.labels[j] : 0;
    if (label < 0) continue;
    rows[label].push_back(j);
    label_of_[j] = static_cast<int>(label);
  }
  for (index_t l = 0; l < length(labels_); ++l) {
    Sources& s = labels_[l];
    s.tree = CellTree(request.points, rows[l], grid);
    const index_t size = s.size();
    s.coordinates.resize(size * d);
    s.weights.resize(size * n_columns);
    s.prefix.assign((size + 1) * n_columns, 0.0);
    for (index_t p = 0; p < size; ++p) {
      const index_t row = s.tree.order()[p];
      for (index_t k = 0; k < d; ++k) s.coordinates[k * size + p] = request.points.row(row)[k];
      for (index_t c = 0; c < n_columns; ++c) {
        const double weight = request.weights ? request.weights[row * n_columns + c] : 1.0;
        const auto at = p * n_columns + c;
        negative_ = negative_ || weight < 0;
        largest_[c] = std::max(largest_[c], std::abs(weight));
        s.weights[at] = weight;
        s.prefix[at + n_columns] = s.prefix[at] + std::abs(weight);
      }
    }
  }
}

index_t SourceIndex::count(const CellBox& box) const {
  index_t total = 0;
  for (const Sources& s : labels_) total += s.tree.count(box);
  return total;
}

void SourceIndex::weight_within(const CellBox& box, double* out) const {
  const auto n_columns = length(largest_);
  for (const Sources& s : labels_) {
    for (index_t c = 0; c < n_columns; ++c)
      out[c] = s.total(c, n_columns) * 1e-9;  // covers the rounding of a million prefix sums
    s.tree.visit(box, [&](index_t begin, index_t end) {
      for (index_t c = 0; c < n_columns; ++c) out[c] += s.prefix[end * n_columns + c] - s.prefix[begin * n_columns + c];
    });
    out += n_columns;
  }
}

}  // namespace spectralcls
