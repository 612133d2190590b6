// What happens to a tile of squared distances: kernel values, weights, and sums in registers. One query row at a
// time; the accumulators are vectors (a lane per point modulo the vector width), reduced when a piece ends.
#pragma once

#include "sums/ladder.hpp"
#include "sums/profile.hpp"

namespace spectralcls::detail {

constexpr int group = 4;  // vectors whose exponentials are computed step by step together

// Where the kernel values of a bandwidth go, and with which weights.
template <class T>
struct Rung {
  Vec<T>* sum;
  const T* weight;
};

// The kernel values of the rungs of a ladder for the N vectors at `offset`, added to one vector sum a rung.
template <class T, bool Scaled, bool Weighted, int Rungs, int N>
SPECTRALCLS_INLINE void add_ladder(const T* distance, index_t offset, T origin, T rate, const Rung<T>* rungs, Vec<T> (&sum)[Rungs]) {
  Vec<T> k[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) k[i] = load(distance + offset + i * lanes<T>);
  decay<T, Scaled, N>(origin, rate, k);
#pragma GCC unroll 8
  for (int l = 0; l < Rungs; ++l) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      if (Weighted) sum[l] += k[i] * load(rungs[l].weight + offset + i * lanes<T>);
      else sum[l] += k[i];
    }
    if (l + 1 < Rungs)
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) k[i] = k[i] * k[i];
  }
}

template <class T, bool Scaled, bool Weighted, int Rungs>
inline void add_ladder(const T* distance, int n_vectors, T origin, T rate, const Rung<T>* rungs) {
  Vec<T> sum[Rungs];
#pragma GCC unroll 8
  for (int l = 0; l < Rungs; ++l) sum[l] = *rungs[l].sum;
  int v = 0;
  for (; v + group <= n_vectors; v += group)
    add_ladder<T, Scaled, Weighted, Rungs, group>(distance, v * lanes<T>, origin, rate, rungs, sum);
  for (; v < n_vectors; ++v)
    add_ladder<T, Scaled, Weighted, Rungs, 1>(distance, v * lanes<T>, origin, rate, rungs, sum);
#pragma GCC unroll 8
  for (int l = 0; l < Rungs; ++l) *rungs[l].sum = sum[l];
}

template <class T, bool Scaled, bool Weighted>
inline void add_ladder(int n_rungs, const T* distance, int n_vectors, T origin, T rate, const Rung<T>* rungs) {
  switch (n_rungs) {
    case 1: return add_ladder<T, Scaled, Weighted, 1>(distance, n_vectors, origin, rate, rungs);
    case 2: return add_ladder<T, Scaled, Weighted, 2>(distance, n_vectors, origin, rate, rungs);
    case 3: return add_ladder<T, Scaled, Weighted, 3>(distance, n_vectors, origin, rate, rungs);
    case 4: return add_ladder<T, Scaled, Weighted, 4>(distance, n_vectors, origin, rate, rungs);
    case 5: return add_ladder<T, Scaled, Weighted, 5>(distance, n_vectors, origin, rate, rungs);
    case 6: return add_ladder<T, Scaled, Weighted, 6>(distance, n_vectors, origin, rate, rungs);
    case 7: return add_ladder<T, Scaled, Weighted, 7>(distance, n_vectors, origin, rate, rungs);
    case 8: return add_ladder<T, Scaled, Weighted, 8>(distance, n_vectors, origin, rate, rungs);
  }
}

// Calls body(offset, values) for N vectors of kernel values.
template <Kernel K, class T, bool Scaled, int N, class Body>
SPECTRALCLS_INLINE void for_kernel_values(const T* argument, index_t offset, T origin, T rate, Body&& body) {
  Vec<T> k[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) k[i] = load(argument + offset + i * lanes<T>);
  kernel_values<K, T, Scaled, N>(origin, rate, k);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) body(offset + i * lanes<T>, k[i]);
}

// The same for one row of a tile, several vectors at a time.
template <Kernel K, class T, bool Scaled, class Body>
SPECTRALCLS_INLINE void for_kernel_values(const T* argument, int n_vectors, T origin, T rate, Body&& body) {
  int v = 0;
  for (; v + group <= n_vectors; v += group)
    for_kernel_values<K, T, Scaled, group>(argument, v * lanes<T>, origin, rate, body);
  for (; v < n_vectors; ++v) for_kernel_values<K, T, Scaled, 1>(argument, v * lanes<T>, origin, rate, body);
}

// Adds the kernel values of one row, times weights if any, to a vector sum.
template <class T, bool Scaled>
inline void add_row(Kernel kernel, const T* argument, int n_vectors, T origin, T rate, const T* weight, Vec<T>& sum) {
  with_kernel(kernel, [&](auto row) {
    Vec<T> total = sum;
    for_kernel_values<decltype(row)::value, T, Scaled>(argument, n_vectors, origin, rate, [&](index_t offset, Vec<T> k) {
      if (weight) total += k * load(weight + offset);
      else total += k;
    });
    sum = total;
  });
}

// Stores the kernel values of one row; `values` may be `argument`.
template <class T>
inline void kernel_row(Kernel kernel, const T* argument, int n_vectors, T origin, T rate, T* values) {
  with_kernel(kernel, [&](auto row) {
    for_kernel_values<decltype(row)::value, T, true>(argument, n_vectors, origin, rate,
                                                     [&](index_t offset, Vec<T> k) { store(values + offset, k); });
  });
}

// The next rung of a ladder in several columns.
template <class T>
inline void square_row(T* values, int n_vectors) {
  for (int v = 0; v < n_vectors; ++v) {
    const Vec<T> k = load(values + v * lanes<T>);
    store(values + v * lanes<T>, k * k);
  }
}

}  // namespace spectralcls::detail
