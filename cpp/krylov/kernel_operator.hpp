// The operator S K S of a set of points: K their kernel matrix, never formed, S a diagonal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "krylov/operators.hpp"
#include "sums/kernel_sums.hpp"

namespace spectralcls {

template <class T>
struct KernelOperator {
  using PlainSums = std::function<void(const KernelSums<T>&, T* sums, const Execution&)>;

  MatrixView<T> points;
  std::shared_ptr<const PackingCache<T>> cache;  // the same, with their labels
  const std::int64_t* labels = nullptr;          // 0 ... n_labels - 1
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  // Between the points of any two labels, row-major (n_labels, n_labels): the bandwidth, and by what its kernel is
  // multiplied.
  std::vector<double> bandwidths;
  std::vector<T> factors;
  const T* scale = nullptr;  // the diagonal of S; nullptr for ones
  PlainSums plain_sums;

  // Products with it. The rows of each label are a call of their own, since what one bandwidth shares is the label of
  // the points; where there is one label alone its rows are the points.
  BlockOperator<T> products(const Execution& execution) const;
};

extern template struct KernelOperator<float>;
extern template struct KernelOperator<double>;

}  // namespace spectralcls
