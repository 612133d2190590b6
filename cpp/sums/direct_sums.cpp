#include "sums/direct_sums.hpp"

namespace spectralcls {

SourceIndex::SourceIndex(const ApproximateSums& request, const CellGrid& grid)
    : labels_(request.n_labels),
      total_(request.n_columns, 0.0),
      largest_(request.n_columns, 0.0),
      label_of_(request.points.rows, -1),
      position_of_(request.points.rows, -1) {
  const index_t n = request.points.rows, d = request.points.cols, c = request.n_columns;
  std::vector<std::vector<index_t>> rows(request.n_labels);
  for (index_t j = 0; j < n; ++j) {
    const std::int64_t label = request.labels ? request.labels[j] : 0;
    if (label >= 0) rows[label].push_back(j);
  }
  for (int l = 0; l < request.n_labels; ++l) {
    Sources& s = labels_[l];
    s.tree = CellTree(request.points, rows[l], grid);
    const index_t size = s.size();
    s.coordinates.resize(size * d);
    s.weights.resize(size * c);
    s.prefix.assign((size + 1) * c, 0.0);
    for (index_t p = 0; p < size; ++p) {
      const index_t row = s.tree.order()[p];
      label_of_[row] = l;
      position_of_[row] = p;
      for (index_t k = 0; k < d; ++k) s.coordinates[k * size + p] = request.points.row(row)[k];
      for (index_t k = 0; k < c; ++k) {
        const double weight = request.weights ? request.weights[row * c + k] : 1.0;
        negative_ = negative_ || weight < 0;
        largest_[k] = std::max(largest_[k], std::abs(weight));
        s.weights[p * c + k] = weight;
        s.prefix[(p + 1) * c + k] = s.prefix[p * c + k] + std::abs(weight);
      }
    }
    for (index_t k = 0; k < c; ++k) total_[k] += s.prefix[size * c + k];
  }
}

index_t SourceIndex::count(const CellBox& box) const {
  index_t total = 0;
  for (const Sources& s : labels_) total += s.tree.count(box);
  return total;
}

void SourceIndex::weight_within(const CellBox& box, double* out) const {
  const index_t c = static_cast<index_t>(total_.size());
  for (index_t k = 0; k < c; ++k) out[k] = total_[k] * 1e-9;  // covers the rounding of a million prefix sums
  for (const Sources& s : labels_)
    s.tree.visit(box, [&](index_t begin, index_t end) {
      for (index_t k = 0; k < c; ++k) out[k] += s.prefix[end * c + k] - s.prefix[begin * c + k];
    });
}

DirectSums::DirectSums(const ApproximateSums& request, const SourceIndex& sources)
    : request_(request),
      index_(sources),
      d_(static_cast<int>(request.points.cols)),
      n_columns_(static_cast<int>(request.n_columns)),
      n_outputs_((request.n_labels + 1) * n_columns_),
      rate_(rate<double>(request.kernel, 1.0, request.bandwidth)),
      coordinates_(static_cast<std::size_t>(d_) * capacity),
      weights_(static_cast<std::size_t>(n_columns_) * capacity),
      plain_(n_columns_),
      absolute_(n_columns_) {}

void DirectSums::evaluate(const KeyedRow* rows, index_t n_rows, const CellBox& box, double* sums,
                          Checkpoint& checkpoint) {
  std::fill(sums, sums + n_rows * n_outputs_, 0.0);
  for (int l = 0; l < request_.n_labels; ++l) {
    const Sources& sources = index_.labels()[l];
    sources.tree.visit(box, [&](index_t begin, index_t end) {
      while (begin < end) {
        const index_t stop = std::min<index_t>(end, begin + capacity - filled_);
        append(sources, begin, stop);
        begin = stop;
        if (filled_ == capacity) {
          checkpoint();
          flush(l, rows, n_rows, sums);
        }
      }
    });
    if (filled_) flush(l, rows, n_rows, sums);
  }
}

void DirectSums::append(const Sources& sources, index_t begin, index_t end) {
  const index_t n = sources.size();
  runs_.push_back({begin, end, filled_});
  for (int k = 0; k < d_; ++k)
    std::copy(sources.coordinates.begin() + k * n + begin, sources.coordinates.begin() + k * n + end,
              coordinates_.begin() + k * capacity + filled_);
  for (int k = 0; k < n_columns_; ++k)
    for (index_t p = begin; p < end; ++p)
      weights_[k * capacity + filled_ + (p - begin)] = sources.weights[p * n_columns_ + k];
  filled_ += static_cast<int>(end - begin);
}

void DirectSums::flush(int label, const KeyedRow* rows, index_t n_rows, double* sums) {
  const int padded = (filled_ + step - 1) / step * step;
  for (int j = filled_; j < padded; ++j) {
    for (int k = 0; k < d_; ++k) coordinates_[k * capacity + j] = 0;
    for (int k = 0; k < n_columns_; ++k) weights_[k * capacity + j] = 0;
  }
  for (index_t i = 0; i < n_rows; ++i) {
    const index_t query = rows[i].row;
    int hidden = -1;  // the column that this query leaves out
    const index_t left_out = request_.excluded ? request_.excluded[query] : -1;
    if (left_out >= 0 && index_.label(left_out) == label) {
      const index_t position = index_.position(left_out);
      for (const Run& run : runs_)
        if (run.begin <= position && position < run.end) hidden = run.offset + static_cast<int>(position - run.begin);
    }
    std::vector<double> saved;
    if (hidden >= 0)
      for (int k = 0; k < n_columns_; ++k) {
        saved.push_back(weights_[k * capacity + hidden]);
        weights_[k * capacity + hidden] = 0;
      }
    with_kernel(request_.kernel,
                [&](auto kernel) { accumulate<decltype(kernel)::value>(request_.queries.row(query), padded); });
    if (hidden >= 0)
      for (int k = 0; k < n_columns_; ++k) weights_[k * capacity + hidden] = saved[k];
    double* out = sums + i * n_outputs_;
    for (int k = 0; k < n_columns_; ++k) {
      out[label * n_columns_ + k] += sum_of_lanes<double>(plain_[k]);
      out[request_.n_labels * n_columns_ + k] += sum_of_lanes<double>(absolute_[k]);
    }
  }
  filled_ = 0;
  runs_.clear();
}

template <Kernel K>
void DirectSums::accumulate(const double* query, int n_columns) {
  constexpr int n_vectors = step / lanes<double>;
  std::fill(plain_.begin(), plain_.end(), Vec<double>{});
  std::fill(absolute_.begin(), absolute_.end(), Vec<double>{});
  for (int j = 0; j < n_columns; j += step) {
    Vec<double> x[n_vectors] = {};
    for (int k = 0; k < d_; ++k)
#pragma GCC unroll 4
      for (int v = 0; v < n_vectors; ++v) {
        const Vec<double> difference = query[k] - load(&coordinates_[k * capacity + j + v * lanes<double>]);
        x[v] += difference * difference;
      }
    if constexpr (profile<K>.decay == Decay::exponential)
#pragma GCC unroll 4
      for (int v = 0; v < n_vectors; ++v) x[v] = square_root<double>(x[v]);
    kernel_values<K, double, false>(0.0, rate_, x);
    for (int k = 0; k < n_columns_; ++k) {
      Vec<double> plain{}, absolute{};
#pragma GCC unroll 4
      for (int v = 0; v < n_vectors; ++v) {
        const Vec<double> term = x[v] * load(&weights_[k * capacity + j + v * lanes<double>]);
        plain += term;
        absolute += maximum<double>(term, -term);
      }
      plain_[k] += plain;
      absolute_[k] += absolute;
    }
  }
}

}  // namespace spectralcls
