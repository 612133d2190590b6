// The measured limit of the machine. Percentages in the benchmarks refer to it.
#include <algorithm>
#include <chrono>

#include "infrastructure/simd.hpp"

namespace spectralcls {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Independent chains in registers, enough to hide a latency of four cycles on two ports. Without a fused instruction, a
// multiplication and an addition count as one.
template <class T>
double rate(double seconds) {
  constexpr int chains = n_vector_registers == 32 ? 16 : 12;
  Vec<T> value[chains];
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) value[i] = broadcast<T>(T(i));
  const Vec<T> factor = broadcast<T>(T(0.999)), term = broadcast<T>(T(0.001));
  double best = 0;
  for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
    constexpr int repetitions = 100000;
    const auto begin = Clock::now();
    for (int k = 0; k < repetitions; ++k) {
#pragma GCC unroll 16
      for (int i = 0; i < chains; ++i) value[i] = value[i] * factor + term;
    }
    best = std::max(best, chains * static_cast<double>(repetitions) / seconds_since(begin));
  }
  Vec<T> total = value[0];
#pragma GCC unroll 16
  for (int i = 1; i < chains; ++i) total += value[i];
  volatile T sink = total[0];
  (void)sink;
  return best;
}

}  // namespace
}  // namespace spectralcls

extern "C" {
// Vector multiply-adds a second that the calling thread reaches; takes about `seconds`.
double rate_of_float32(double seconds) { return spectralcls::rate<float>(seconds); }
double rate_of_float64(double seconds) { return spectralcls::rate<double>(seconds); }
int bytes_of_vector() { return spectralcls::vector_bytes; }
}
