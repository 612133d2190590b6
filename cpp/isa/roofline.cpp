#include "isa/roofline.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "infrastructure/simd.hpp"

namespace spectralcls {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Independent chains in registers, enough to hide a latency of four cycles on two ports.
template <class T>
double one_thread(double seconds, Checkpoint& checkpoint) {
  constexpr int chains = n_vector_registers == 32 ? 16 : 12;
  Vec<T> value[chains];
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) value[i] = broadcast<T>(T(i));
  const Vec<T> factor = broadcast<T>(T(0.999)), term = broadcast<T>(T(0.001));
  double best = 0;
  for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
    checkpoint();
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

template <class T>
double multiply_add_rate(double seconds, const Execution& execution) {
  std::vector<double> rates(std::max(execution.n_threads, 1));
  for_each_chunk(length(rates), execution,
                 [&](index_t i, Checkpoint& checkpoint) { rates[i] = one_thread<T>(seconds, checkpoint); });
  double total = 0;
  for (const double rate : rates) total += rate;
  return total;
}

template double multiply_add_rate<float>(double, const Execution&);
template double multiply_add_rate<double>(double, const Execution&);

}  // namespace spectralcls
