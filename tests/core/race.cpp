// For the thread sanitizer (test_sanitizers.py): parallel regions as the core uses them.
#include <stdexcept>
#include <vector>

#include "infrastructure/parallel.hpp"

using namespace spectralcls;

int main() {
  Execution run;
  run.n_threads = 4;
  run.team = make_team();  // of the whole call; further down each region has its own
  for (int repeat = 0; repeat < 200; ++repeat) {
    if (repeat == 100) run.team = nullptr;
    std::vector<long> out(64);
    for_each_chunk(64, run, [&](std::ptrdiff_t chunk, Checkpoint& checkpoint) {
      for (int i = 0; i < 100; ++i) out[chunk] += i;
      checkpoint();
      if (chunk == 0) for_each_chunk(2, run, [&](std::ptrdiff_t, Checkpoint&) { checkpoint(); });
    });
    for (const long sum : out)
      if (sum != 4950) return 2;
    try {
      for_each_chunk(64, run, [&](std::ptrdiff_t chunk, Checkpoint&) {
        if (chunk == repeat % 64) throw std::runtime_error("stop");
      });
      return 3;
    } catch (const std::runtime_error&) {
    }
  }
  int asked = 0;
  run.interrupted = [&] { return ++asked > 3; };
  try {
    for_each_chunk(10000, run, [](std::ptrdiff_t, Checkpoint& checkpoint) { checkpoint(); });
  } catch (const Interrupted&) {
    asked = 0;
  }
  return asked;
}
