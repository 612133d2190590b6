// A function that runs once, however many threads call it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace spectralcls {

// Runs a function once, in the first thread that calls, while other callers wait. If the function throws, the next
// caller runs it again, which std::call_once does not guarantee on every platform. If the process forks while the
// function runs, the child process runs the function again. The function must therefore have no effect before its last
// step.
class Once {
 public:
  explicit Once(bool done = false) : done_(done) {}

  template <class Function>
  void operator()(Function&& function) {
    while (!done_.load(std::memory_order_acquire)) {
      const std::int64_t here = process();
      std::int64_t worker = worker_.load(std::memory_order_relaxed);
      if (worker == here || !worker_.compare_exchange_strong(worker, here, std::memory_order_acquire)) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      const Leave leave{worker_};
      if (done_.load(std::memory_order_acquire)) return;
      function();
      done_.store(true, std::memory_order_release);
    }
  }
  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  static constexpr std::int64_t nobody = 0;

  struct Leave {
    std::atomic<std::int64_t>& worker;
    ~Leave() { worker.store(nobody, std::memory_order_release); }
  };

  static std::int64_t process() {
#if defined(__unix__) || defined(__APPLE__)
    return getpid();
#else
    return 1;  // no forks
#endif
  }

  std::atomic<std::int64_t> worker_{nobody};  // pid of the computing process
  std::atomic<bool> done_;
};

}  // namespace spectralcls
