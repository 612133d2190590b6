// The functions that are compiled once per instruction set, as one table of pointers: all that the bindings know of a
// variant. Arguments own no memory whose layout or allocation depends on the instruction set.
//
// To add one: declare it in a header that includes neither base/simd.hpp nor Eigen, give it a row here, and name it in
// isa/functions.cpp.
#pragma once

#include "base/matrix.hpp"
#include "base/parallel.hpp"
#include "isa/roofline.hpp"
#include "krylov/operators.hpp"
#include "krylov/tall_products.hpp"
#include "neighbors/knn.hpp"
#include "sums/kernel_matrix.hpp"
#include "sums/kernel_sums.hpp"
#include "sums/tolerance_sums.hpp"

namespace spectralcls {

// Of one floating-point type.
template <class T>
struct Functions {
  decltype(&spectralcls::pack_points<T>) pack_points;
  bool (*plain_sums)(const KernelSums<T>&, T* sums, const Execution&);
  bool (*log_sums)(const KernelSums<T>&, T* logs, const Execution&);
  bool (*scaled_sums)(const KernelSums<T>&, T* log_scale, T* sums, const Execution&);
  decltype(&spectralcls::kernel_matrix<T>) kernel_matrix;
  decltype(&spectralcls::symmetric_kernel_matrix<T>) symmetric_kernel_matrix;
  decltype(&spectralcls::nearest_neighbors<T>) nearest_neighbors;
  decltype(&spectralcls::reverse_neighbors<T>) reverse_neighbors;
  decltype(&spectralcls::dense_product<T>) dense_product;
  decltype(&spectralcls::csr_product<T>) csr_product;
  decltype(&spectralcls::asymmetry<T>) asymmetry;
  TallProducts<T> tall_products;
  decltype(&spectralcls::multiply_add_rate<T>) multiply_add_rate;
};

struct FunctionTable {
  const char* interface;  // digest of the headers that the variant was compiled with
  const char* variant;
  const char* compiler;
  const char* flags;
  int vector_bytes;
  Functions<float> single_precision;
  Functions<double> double_precision;
  ToleranceSums::Outcome (*tolerance_sums)(const ToleranceSums&, double* sums, const Execution&);
};

// What a variant's shared library exports, and its name there.
using GetFunctionTable = const FunctionTable* (*)();
constexpr const char* function_table_symbol = "spectralcls_function_table";

}  // namespace spectralcls
