// What happens to a tile of squared distances: kernel values, weights, and sums in registers. One query row at a
// time; the accumulators are vectors (a lane per point modulo the vector width), reduced when a piece ends.
#pragma once

#include "sums/ladder.hpp"
#include "sums/profile.hpp"

namespace spectralcls::detail {

constexpr int group = 4;  // vectors whose exponentials are computed step by step together

// 2^(rate (origin - D)) for N vectors of squared distances. Scaled: origin is the row's running minimum of D;
// otherwise it is 0 and not subtracted.
template <class T, bool Scaled, int N>
SPECTRALCLS_INLINE void gaussian(const T* distance, T origin, T rate, Vec<T> (&k)[N]) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const Vec<T> D = load(distance + i * lanes<T>);
    k[i] = Scaled ? (origin - D) * rate + exp2_bias<T> : D * -rate + exp2_bias<T>;
  }
  exp2_biased<T, N>(k);
}

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
  gaussian<T, Scaled, N>(distance + offset, origin, rate, k);
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

template <Kernel K, class T>
inline void add_compact(const T* distance, int n_vectors, T rate, const T* weight, Vec<T>& sum) {
  for (int v = 0; v < n_vectors; ++v) {
    const Vec<T> k = compact_profile<K, T>(load(distance + v * lanes<T>) * rate);
    if (weight) sum += k * load(weight + v * lanes<T>);
    else sum += k;
  }
}

template <class T>
inline void add_compact(Kernel kernel, const T* distance, int n_vectors, T rate, const T* weight, Vec<T>& sum) {
  switch (kernel) {
    case Kernel::epanechnikov: return add_compact<Kernel::epanechnikov>(distance, n_vectors, rate, weight, sum);
    case Kernel::uniform: return add_compact<Kernel::uniform>(distance, n_vectors, rate, weight, sum);
    case Kernel::quartic: return add_compact<Kernel::quartic>(distance, n_vectors, rate, weight, sum);
    case Kernel::triweight: return add_compact<Kernel::triweight>(distance, n_vectors, rate, weight, sum);
    case Kernel::cosine: return add_compact<Kernel::cosine>(distance, n_vectors, rate, weight, sum);
    case Kernel::gaussian: break;
  }
}

// Kernel values of one row of a tile; `values` may be `distance`.
template <Kernel K, class T>
inline void kernel_row(const T* distance, int n_vectors, T origin, T rate, T* values) {
  int v = 0;
  if constexpr (K == Kernel::gaussian) {
    for (; v + group <= n_vectors; v += group) {
      Vec<T> k[group];
      gaussian<T, true, group>(distance + v * lanes<T>, origin, rate, k);
#pragma GCC unroll 8
      for (int i = 0; i < group; ++i) store(values + (v + i) * lanes<T>, k[i]);
    }
  }
  for (; v < n_vectors; ++v) {
    Vec<T> k[1];
    if constexpr (K == Kernel::gaussian) gaussian<T, true, 1>(distance + v * lanes<T>, origin, rate, k);
    else k[0] = compact_profile<K, T>(load(distance + v * lanes<T>) * rate);
    store(values + v * lanes<T>, k[0]);
  }
}

template <class T>
inline void kernel_row(Kernel kernel, const T* distance, int n_vectors, T origin, T rate, T* values) {
  switch (kernel) {
    case Kernel::gaussian: return kernel_row<Kernel::gaussian>(distance, n_vectors, origin, rate, values);
    case Kernel::epanechnikov: return kernel_row<Kernel::epanechnikov>(distance, n_vectors, origin, rate, values);
    case Kernel::uniform: return kernel_row<Kernel::uniform>(distance, n_vectors, origin, rate, values);
    case Kernel::quartic: return kernel_row<Kernel::quartic>(distance, n_vectors, origin, rate, values);
    case Kernel::triweight: return kernel_row<Kernel::triweight>(distance, n_vectors, origin, rate, values);
    case Kernel::cosine: return kernel_row<Kernel::cosine>(distance, n_vectors, origin, rate, values);
  }
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
