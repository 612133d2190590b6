// The squared distance between two points.
#pragma once

#include <cstring>

#include "infrastructure/matrix.hpp"

namespace spectralcls::detail {

// Returns (left - right) * first * second. Unless Sum is wider than the type of the coordinates (`Wider`), `first` is
// at most 1 and applied first, because the difference of the coordinates may overflow.
template <bool Wider, class Value, class Sum>
Value scaled_difference(Value left, Value right, Sum first, Sum second) {
  return Wider ? (left - right) * second : (left * first - right * first) * second;
}

// Returns the squared distance of two points with d features after multiplication by `scale`, a power of two. Eight
// partial sums of type Sum are added in a fixed order. Sum is double, or T if rounding does not matter.
template <class Sum = double, class T>
Sum squared_distance(const T* q, const T* x, index_t d, Sum scale) {
  typedef T Eight __attribute__((vector_size(8 * sizeof(T))));
  typedef Sum Sums __attribute__((vector_size(8 * sizeof(Sum))));
  constexpr bool wider = sizeof(Sum) > sizeof(T);
  const Sum first = wider || scale > 1 ? Sum(1) : scale, second = wider || scale > 1 ? scale : Sum(1);
  Sums sum = {};
  index_t k = 0;
  for (; k + 8 <= d; k += 8) {
    Eight left, right;
    std::memcpy(&left, q + k, sizeof left);
    std::memcpy(&right, x + k, sizeof right);
    const Sums difference = scaled_difference<wider>(__builtin_convertvector(left, Sums),
                                                     __builtin_convertvector(right, Sums), first, second);
    sum += difference * difference;
  }
  Sum rest = 0;
  for (; k < d; ++k) {
    const Sum difference = scaled_difference<wider>(static_cast<Sum>(q[k]), static_cast<Sum>(x[k]), first, second);
    rest += difference * difference;
  }
  return (((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]))) + rest;
}

}  // namespace spectralcls::detail
