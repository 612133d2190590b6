#include "krylov/kernel_operator.hpp"

#include <algorithm>

namespace spectralcls {
namespace {

// The points of one label, copied as queries.
template <class T>
struct Rows {
  std::vector<index_t> number;
  std::vector<T> coordinates;
};

template <class T>
std::vector<Rows<T>> rows_by_label(const KernelOperator<T>& a) {
  std::vector<Rows<T>> all(a.n_labels);
  for (index_t i = 0; i < a.points.rows; ++i) {
    Rows<T>& own = all[a.labels[i]];
    own.number.push_back(i);
    own.coordinates.insert(own.coordinates.end(), a.points.row(i), a.points.row(i) + a.points.cols);
  }
  return all;
}

// to[i, c] = diagonal[i] from[i, c].
template <class T>
void multiply_rows(const T* diagonal, index_t rows, index_t columns, const T* from, T* to) {
  for (index_t i = 0; i < rows; ++i)
    for (index_t c = 0; c < columns; ++c) to[i * columns + c] = diagonal[i] * from[i * columns + c];
}

template <class T>
class Products {
 public:
  Products(const KernelOperator<T>& a, const Execution& execution) : a_(a), execution_(execution) {
    if (a.n_labels > 1) by_label_ = rows_by_label(a);
  }

  void operator()(const T* x, T* y, index_t columns) {
    const index_t n = a_.points.rows;
    if (a_.scale) {
      scaled_.resize(n * columns);
      multiply_rows(a_.scale, n, columns, x, scaled_.data());
      x = scaled_.data();
    }
    KernelSums<T> request;
    request.points = a_.points;
    request.cache = a_.cache;
    request.labels = a_.labels;
    request.n_labels = a_.n_labels;
    request.kernel = a_.kernel;
    request.weights = x;
    request.n_columns = columns;
    if (by_label_.empty()) {
      request.queries = a_.points;
      request.bandwidths = a_.bandwidths;
      a_.plain_sums(request, y, execution_);
    }
    for (index_t label = 0; label < length(by_label_); ++label) add_rows(request, label, y);
    if (a_.scale) multiply_rows(a_.scale, n, columns, y, y);
  }

 private:
  void add_rows(KernelSums<T>& request, index_t label, T* y) {
    const Rows<T>& rows = by_label_[label];
    const auto m = length(rows.number);
    if (m == 0) return;
    const index_t n_labels = a_.n_labels, columns = request.n_columns;
    request.queries = {rows.coordinates.data(), m, a_.points.cols};
    request.bandwidths.assign(a_.bandwidths.begin() + label * n_labels, a_.bandwidths.begin() + (label + 1) * n_labels);
    request.bandwidths_by_label = true;
    sums_.resize(m * n_labels * columns);
    a_.plain_sums(request, sums_.data(), execution_);
    const T* factors = a_.factors.data() + label * n_labels;
    const T* sum = sums_.data();
    for (const index_t row : rows.number) {
      T* to = y + row * columns;
      std::fill(to, to + columns, T(0));
      for (index_t other = 0; other < n_labels; ++other, sum += columns)
        for (index_t c = 0; c < columns; ++c) to[c] += factors[other] * sum[c];
    }
  }

  KernelOperator<T> a_;
  Execution execution_;
  std::vector<Rows<T>> by_label_;
  std::vector<T> scaled_, sums_;
};

}  // namespace

template <class T>
BlockOperator<T> KernelOperator<T>::products(const Execution& execution) const {
  return Products<T>(*this, execution);
}

template struct KernelOperator<float>;
template struct KernelOperator<double>;

}  // namespace spectralcls
