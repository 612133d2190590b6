// The operator S K S of a set of points. K is the kernel matrix of the points, which is never formed, and S is
// diagonal.
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
  std::shared_ptr<const PackedPointsCache<T>> cache;  // these points, packed with their labels
  const std::int64_t* labels = nullptr;               // 0 ... n_labels - 1
  int n_labels = 1;
  Kernel kernel = Kernel::gaussian;
  // Row-major (n_labels, n_labels): for each pair of labels, the bandwidth of the kernel between their points and the
  // factor of this kernel.
  std::vector<double> bandwidths;
  std::vector<T> factors;
  const T* scale = nullptr;  // diagonal of S; nullptr: ones
  PlainSums plain_sums;

  // Returns a function that multiplies by the operator. It computes the rows of each label in a separate call of
  // `plain_sums`, because the bandwidths of a call may depend only on the labels of the points, not of the queries.
  BlockOperator<T> products(const Execution& execution) const;
};

}  // namespace spectralcls
