// Measures the peak multiply-add rate of the machine, to which percentages in the benchmarks refer.
#include <algorithm>
#include <chrono>

#include "infrastructure/simd.hpp"

namespace spectralcls {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Returns the vector multiply-adds per second. The chains in registers are independent and hide a latency of four
// cycles on two ports. Without FMA, a multiplication and an addition count as one multiply-add.
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
// rate_of_float32() and rate_of_float64() return the vector multiply-adds per second of the calling thread, measured
// for about `seconds`.
double rate_of_float32(double seconds) { return spectralcls::rate<float>(seconds); }
double rate_of_float64(double seconds) { return spectralcls::rate<double>(seconds); }
int bytes_of_vector() { return spectralcls::vector_bytes; }
}
