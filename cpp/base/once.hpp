// Work that the first caller does for all.
#pragma once

#include <atomic>
#include <mutex>

namespace spectralcls {

// Runs a function once, whichever thread comes first. If it throws, the next caller runs it again; std::call_once
// aborts or hangs then where pthread_once knows no exceptions (musl, static libstdc++, older glibc).
class Once {
 public:
  explicit Once(bool done = false) : done_(done) {}

  template <class Function>
  void operator()(Function&& function) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    function();
    done_.store(true, std::memory_order_release);
  }
  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::atomic<bool> done_;
};

}  // namespace spectralcls
