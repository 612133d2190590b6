// The table of the functions that are compiled once for each instruction set. The bindings use nothing else of a
// variant. No argument may own memory whose layout or allocation depends on the instruction set.
//
// To add a function, declare it in a header that includes neither infrastructure/simd.hpp nor Eigen, add its entry to a
// struct below, and set the entry in isa/functions.cpp.
#pragma once

#include "geometry/largest.hpp"
#include "geometry/pruning_choice.hpp"
#include "gridding/planned_labels.hpp"
#include "gridding/planned_sums.hpp"
#include "infrastructure/boundary.hpp"
#include "infrastructure/matrix.hpp"
#include "infrastructure/parallel.hpp"
#include "krylov/operators.hpp"
#include "krylov/tall_products.hpp"
#include "neighbors/knn.hpp"
#include "sums/conformal.hpp"
#include "sums/kernel_matrix.hpp"
#include "trees/forest.hpp"

namespace spectralcls {

// The functions of one floating-point type.
template <class T>
struct Functions {
  Entry<decltype(&spectralcls::pack_points<T>)> pack_points;
  Entry<decltype(&spectralcls::planned_sums<T>)> kernel_sums;
  Entry<decltype(&spectralcls::planned_labels<T>)> certain_labels;
  Entry<decltype(&spectralcls::kernel_matrix<T>)> kernel_matrix;
  Entry<decltype(&spectralcls::symmetric_kernel_matrix<T>)> symmetric_kernel_matrix;
  Entry<decltype(&spectralcls::largest_size<T>)> largest_size;
  Entry<decltype(&spectralcls::index_points<T>)> index_points;
  Entry<decltype(&spectralcls::nearest_neighbors<T>)> nearest_neighbors;
  Entry<decltype(&spectralcls::reverse_neighbors<T>)> reverse_neighbors;
  Entry<decltype(&spectralcls::dense_product<T>)> dense_product;
  Entry<decltype(&spectralcls::csr_product<T>)> csr_product;
  Entry<decltype(&spectralcls::asymmetry<T>)> asymmetry;
  TallProducts<T> tall_products;
};

struct FunctionTable {
  const char* interface;  // digest of the headers with which the variant was compiled
  const char* variant;
  const char* compiler;
  const char* flags;
  Functions<float> single_precision;
  Functions<double> double_precision;
  Entry<decltype(&spectralcls::conformal_ranks)> conformal_ranks;
  Entry<decltype(&spectralcls::conformal_weights)> conformal_weights;
  Entry<decltype(&spectralcls::log_odds)> log_odds;
  Entry<decltype(&spectralcls::sum_trees)> sum_trees;
  Entry<decltype(&detail::set_pruning)> set_pruning;
};

// The function that the shared library of a variant exports, and its name.
using GetFunctionTable = const FunctionTable* (*)();
constexpr const char* function_table_symbol = "spectralcls_function_table";

}  // namespace spectralcls
