// The macro CHECK, which reports a false condition and continues; and a generator of normally distributed random
// numbers.
#pragma once

#include <cstdio>
#include <random>
#include <vector>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

inline int n_failed = 0;

#define CHECK(condition)                                                 \
  if (!(condition)) {                                                    \
    std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
    ++spectralcls::n_failed;                                             \
  }

template <class T>
std::vector<T> normal(index_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw;
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(draw(random));
  return values;
}

}  // namespace spectralcls
