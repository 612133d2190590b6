// The operator S K S of a set of points. K is their kernel matrix, which is never formed, and S is diagonal.
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
  std::shared_ptr<const PackingCache<T>> cache;  // the packings of these points, with their labels
  const std::int64_t* labels = nullptr;          // 0 ... n_labels - 1
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  // Row-major (n_labels, n_labels): the bandwidth between the points of any two labels, and the factor of its kernel.
  std::vector<double> bandwidths;
  std::vector<T> factors;
  const T* scale = nullptr;  // diagonal of S; nullptr: ones
  PlainSums plain_sums;

  // Returns products with the operator. The rows of each label are a separate call, because the bandwidths of a call
  // depend on the labels of the points alone. If there is one label, its rows are the points.
  BlockOperator<T> products(const Execution& execution) const;
};

extern template struct KernelOperator<float>;
extern template struct KernelOperator<double>;

}  // namespace spectralcls
