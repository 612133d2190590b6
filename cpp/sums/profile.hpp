// Kernel values of vectors of arguments.
#pragma once

#include <type_traits>

#include "sums/exp2.hpp"
#include "sums/kernel.hpp"

namespace spectralcls {

template <class V>
inline V linear_of_square(V v, V square) {
  using T = std::decay_t<decltype(v[0])>;
  return v / (T(1) + square_root<T>(square));
}

template <Kernel K>
constexpr const auto& profile = std::get<static_cast<std::size_t>(K)>(profiles);

// Calls f(std::integral_constant<Kernel, K>) for the kernel.
template <class F, std::size_t... Row>
SPECTRALCLS_INLINE void with_kernel(Kernel kernel, F&& f, std::index_sequence<Row...>) {
  ((static_cast<std::size_t>(kernel) == Row ? f(std::integral_constant<Kernel, static_cast<Kernel>(Row)>{}) : void()),
   ...);
}
template <class F>
SPECTRALCLS_INLINE void with_kernel(Kernel kernel, F&& f) {
  with_kernel(kernel, f, std::make_index_sequence<std::tuple_size_v<decltype(profiles)>>{});
}

// Turns N vectors of arguments a into 2^(rate (shift - a)). If Scaled, `shift` is that of the row; otherwise it is not
// used.
template <class T, bool Scaled, int N>
SPECTRALCLS_INLINE void decay(T shift, T rate, Vec<T> (&a)[N]) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) a[i] = Scaled ? (shift - a[i]) * rate + exp2_bias<T> : a[i] * -rate + exp2_bias<T>;
  exp2_biased<T, N>(a);
}

// Turns N vectors of arguments into kernel values. If Scaled, decaying kernels are relative to 2^(-rate shift).
template <Kernel K, class T, bool Scaled, int N>
SPECTRALCLS_INLINE void kernel_values(T shift, T rate, Vec<T> (&a)[N]) {
  if constexpr (profile<K>.decay == Decay::compact) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      const Vec<T> square = a[i] * rate, v = maximum<T>(T(1) - square, Vec<T>{});
      if constexpr (std::is_invocable_v<decltype(profile<K>.factor), Vec<T>, Vec<T>>)
        a[i] = profile<K>.factor(v, square);
      else a[i] = profile<K>.factor(v);
    }
  } else if constexpr (profile<K>.has_factor) {
    Vec<T> factor[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) factor[i] = profile<K>.factor(a[i] * (rate * static_cast<T>(ln2)));
    decay<T, Scaled, N>(shift, rate, a);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) a[i] *= factor[i];
  } else {
    decay<T, Scaled, N>(shift, rate, a);
  }
}

}  // namespace spectralcls
