#include "sums/sum_accumulators.hpp"

#include <type_traits>
#include <utility>

#include "sums/profile.hpp"

namespace spectralcls::detail {
namespace {

constexpr int group = group_vectors;
// The number of groups whose total is added to the sum at once. With only sixteen registers the sum is in memory, and
// an addition to it takes as long as a group.
constexpr int groups = n_vector_registers == 32 ? 1 : 2;

template <class T, int N>
SPECTRALCLS_INLINE void load_group(const T* from, Vec<T> (&to)[N]) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) to[i] = load(from + i * lanes<T>);
}

template <class T, bool Weighted, int N>
SPECTRALCLS_INLINE void add_group(const Vec<T> (&values)[N], const T* weights, Vec<T>& sum) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) sum += Weighted ? values[i] * load(weights + i * lanes<T>) : values[i];
}

// Returns the sum of N vectors of weighted kernel values.
template <Kernel K, class T, bool Scaled, bool Weighted, int N>
SPECTRALCLS_INLINE Vec<T> sum_of_values(const T* arguments, T shift, T rate, const T* weights) {
  Vec<T> k[N];
  load_group(arguments, k);
  kernel_values<K, T, Scaled, N>(shift, rate, k);
  Vec<T> total = Weighted ? k[0] * load(weights) : k[0];
#pragma GCC unroll 8
  for (int i = 1; i < N; ++i) total += Weighted ? k[i] * load(weights + i * lanes<T>) : k[i];
  return total;
}

template <Kernel K, class T, bool Scaled, bool Weighted>
void add_rows(const TileBuffer<T>& arguments, RowSums<T> rows) {
  const T rate = rows.rate;
  for (index_t r = 0; r < rows.n_rows; ++r) {
    if (Scaled && rows.gaps[r] > rows.reach) continue;
    const T shift = Scaled ? rows.shifts[r] : T(0);
    const T *a = arguments.value[r], *w = rows.weights;
    Vec<T> sum = rows.sums[r * rows.stride];
    int left = rows.n_vectors;
    constexpr int step = groups * group;
    for (; left >= step; left -= step, a += step * lanes<T>, w += Weighted ? step * lanes<T> : 0) {
      Vec<T> total = sum_of_values<K, T, Scaled, Weighted, group>(a, shift, rate, w);
#pragma GCC unroll 2
      for (int g = 1; g < groups; ++g)
        total += sum_of_values<K, T, Scaled, Weighted, group>(a + g * group * lanes<T>, shift, rate,
                                                              w + (Weighted ? g * group * lanes<T> : 0));
      sum += total;
    }
    for (; left >= 2; left -= 2, a += 2 * lanes<T>, w += Weighted ? 2 * lanes<T> : 0)
      sum += sum_of_values<K, T, Scaled, Weighted, 2>(a, shift, rate, w);
    if (left > 0) sum += sum_of_values<K, T, Scaled, Weighted, 1>(a, shift, rate, w);
    rows.sums[r * rows.stride] = sum;
  }
}

// Computes the kernel values of all steps of a grid for N vectors from `offset` on, and adds those of each step to its
// own vector of sums.
template <class T, bool Scaled, bool Weighted, int Steps, int N>
SPECTRALCLS_INLINE void add_grid(const T* arguments, index_t offset, T shift, T rate, const GridStep<T>* steps,
                                 Vec<T> (&sum)[Steps]) {
  Vec<T> k[N];
  load_group(arguments + offset, k);
  decay<T, Scaled, N>(shift, rate, k);
#pragma GCC unroll 8
  for (int l = 0; l < Steps; ++l) {
    add_group<T, Weighted, N>(k, Weighted ? steps[l].weights + offset : nullptr, sum[l]);
    if (l + 1 < Steps)
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) k[i] = k[i] * k[i];
  }
}

template <class T, bool Scaled, bool Weighted, int Steps>
void add_grid(const T* arguments, int n_vectors, T shift, T rate, const GridStep<T>* steps) {
  Vec<T> sum[Steps];
#pragma GCC unroll 8
  for (int l = 0; l < Steps; ++l) sum[l] = *steps[l].sum;
  int v = 0;
  for (; v + group <= n_vectors; v += group)
    add_grid<T, Scaled, Weighted, Steps, group>(arguments, v * lanes<T>, shift, rate, steps, sum);
  for (; v < n_vectors; ++v) add_grid<T, Scaled, Weighted, Steps, 1>(arguments, v * lanes<T>, shift, rate, steps, sum);
#pragma GCC unroll 8
  for (int l = 0; l < Steps; ++l) *steps[l].sum = sum[l];
}

template <class T>
using AddGrid = void (*)(const T*, int, T, T, const GridStep<T>*);
// Returns the function for n_steps >= 1 steps.
template <class T, bool Scaled, bool Weighted, int... Before>
AddGrid<T> grid_of(int n_steps, std::integer_sequence<int, Before...>) {
  static constexpr AddGrid<T> functions[] = {&add_grid<T, Scaled, Weighted, Before + 1>...};
  return functions[n_steps - 1];
}

// Computes the kernel values of the rows of a tile.
template <Kernel K, class T>
void kernel_rows(const TileBuffer<T>& arguments, index_t n_rows, int n_vectors, const T* shifts, T rate,
                 TileBuffer<T>& values) {
  for (index_t r = 0; r < n_rows; ++r) {
    const T shift = shifts ? shifts[r] : T(0);
    const T* a = arguments.value[r];
    T* to = values.value[r];
    int v = 0;
    for (; v + group <= n_vectors; v += group) {
      Vec<T> k[group];
      load_group(a + v * lanes<T>, k);
      kernel_values<K, T, true, group>(shift, rate, k);
#pragma GCC unroll 8
      for (int i = 0; i < group; ++i) store(to + (v + i) * lanes<T>, k[i]);
    }
    for (; v < n_vectors; ++v) {
      Vec<T> k[1] = {load(a + v * lanes<T>)};
      kernel_values<K, T, true, 1>(shift, rate, k);
      store(to + v * lanes<T>, k[0]);
    }
  }
}
}  // namespace

template <class T>
void add_rows(Kernel kernel, const TileBuffer<T>& arguments, const RowSums<T>& rows) {
  with_kernel(kernel, [&](auto row) {
    constexpr Kernel K = decltype(row)::value;
    auto add = [&](auto scaled) {
      if (rows.weights) add_rows<K, T, scaled, true>(arguments, rows);
      else add_rows<K, T, scaled, false>(arguments, rows);
    };
    if constexpr (profile<K>.decay != Decay::compact)
      if (rows.shifts) return add(std::true_type{});
    add(std::false_type{});
  });
}

template <class T>
void add_grid(const GridStep<T>* steps, int n_steps, const T* arguments, int n_vectors, const T* shift, T rate) {
  constexpr auto all = std::make_integer_sequence<int, longest_grid<T>>{};
  const bool weighted = steps->weights;
  if (shift)
    (weighted ? grid_of<T, true, true>(n_steps, all) : grid_of<T, true, false>(n_steps, all))(arguments, n_vectors,
                                                                                              *shift, rate, steps);
  else
    (weighted ? grid_of<T, false, true>(n_steps, all) : grid_of<T, false, false>(n_steps, all))(arguments, n_vectors,
                                                                                                T(0), rate, steps);
}

template <class T>
void kernel_rows(Kernel kernel, const TileBuffer<T>& arguments, index_t n_rows, int n_vectors, const T* shifts, T rate,
                 TileBuffer<T>& values) {
  with_kernel(kernel, [&](auto row) {
    kernel_rows<decltype(row)::value, T>(arguments, n_rows, n_vectors, shifts, rate, values);
  });
}

#define SPECTRALCLS_INSTANTIATE(T)                                                \
  template void add_rows<T>(Kernel, const TileBuffer<T>&, const RowSums<T>&);     \
  template void add_grid<T>(const GridStep<T>*, int, const T*, int, const T*, T); \
  template void kernel_rows<T>(Kernel, const TileBuffer<T>&, index_t, int, const T*, T, TileBuffer<T>&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls::detail
