#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace spectralcls {

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);

// State shared by the workers of one call. Threads live for the call only: starting one costs some ten
// microseconds, and nothing is left behind that a fork could break.
struct Queue {
  std::atomic<std::ptrdiff_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr error;
  std::ptrdiff_t running = 0;  // workers apart from the caller, under the mutex
  std::condition_variable done;

  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--running == 0) done.notify_one();
  }

  void fail(const std::exception_ptr& exception) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!error) error = exception;
    stop = true;
  }
};

struct Stopped {};  // unwinds a worker after another one has failed

class WorkerCheckpoint final : public Checkpoint {
 public:
  explicit WorkerCheckpoint(Queue& queue) : queue_(queue) {}
  void operator()() override {
    if (queue_.stop) throw Stopped{};
  }

 private:
  Queue& queue_;
};

class CallerCheckpoint final : public Checkpoint {
 public:
  CallerCheckpoint(Queue& queue, const std::function<bool()>& interrupted) : queue_(queue), interrupted_(interrupted) {}
  void operator()() override {
    if (queue_.stop) throw Stopped{};
    if (interrupted_ && interrupted_()) throw Interrupted{};
  }

 private:
  Queue& queue_;
  const std::function<bool()>& interrupted_;
};

int available_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// A new thread begins on the processor of its creator or wherever the scheduler likes best; one that packs threads to
// let the others sleep moves it only with the next tick, milliseconds later. So a worker begins on any processor but
// its creator's, and may then go where it is sent.
class Placement {
 public:
#if defined(__linux__)
  Placement() {
    const int here = sched_getcpu();
    known_ = here >= 0 && sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
    if (!known_) return;
    n_processors_ = CPU_COUNT(&allowed_);
    elsewhere_ = allowed_;
    CPU_CLR(here, &elsewhere_);
    known_ = CPU_COUNT(&elsewhere_) > 0;
  }
  // Processors that the caller may use: further threads would only wait for one of them.
  int n_processors() const { return n_processors_; }
  void send_away(std::thread& worker) const {  // which still runs: for one that is gone, glibc would move the caller
    if (known_) pthread_setaffinity_np(worker.native_handle(), sizeof elsewhere_, &elsewhere_);
  }
  void set_free() const {  // called by the worker
    if (known_) sched_setaffinity(0, sizeof allowed_, &allowed_);
  }

 private:
  cpu_set_t allowed_, elsewhere_;
  bool known_;
  int n_processors_ = available_processors();
#else
  int n_processors() const { return available_processors(); }
  void send_away(std::thread&) const {}
  void set_free() const {}
#endif
};

}  // namespace

Execution Execution::for_work(double operations) const {
  // A millisecond's worth; a thread starts in some twenty microseconds.
  constexpr double worth_a_thread = 4e6;
  const double most = 1 + operations / worth_a_thread;
  return {most < n_threads ? static_cast<int>(most) : n_threads, interrupted};
}

void for_each_chunk(std::ptrdiff_t n_chunks, const Execution& execution,
                    const std::function<void(std::ptrdiff_t, Checkpoint&)>& body) {
  if (n_chunks <= 0) return;
  Queue queue;
  auto work = [&](Checkpoint& checkpoint) {
    try {
      while (!queue.stop) {
        const std::ptrdiff_t chunk = queue.next++;
        if (chunk >= n_chunks) return;
        checkpoint();
        body(chunk, checkpoint);
      }
    } catch (const Stopped&) {
    } catch (...) {
      queue.fail(std::current_exception());
    }
  };

  auto n_workers = std::min<std::ptrdiff_t>(std::max(execution.n_threads, 1), n_chunks) - 1;
  std::vector<std::thread> workers;
  std::optional<Placement> placement;
  if (n_workers > 0) {
    placement.emplace();
    n_workers = std::min<std::ptrdiff_t>(n_workers, placement->n_processors() - 1);
  }
  try {
    workers.reserve(static_cast<std::size_t>(n_workers));
    for (std::ptrdiff_t i = 0; i < n_workers; ++i) {
      std::lock_guard<std::mutex> lock(queue.mutex);  // no worker goes on before it has been placed
      try {
        workers.emplace_back([&] {
          { std::lock_guard<std::mutex> placed(queue.mutex); }
          placement->set_free();
          WorkerCheckpoint checkpoint(queue);
          work(checkpoint);
          queue.leave();
        });
      } catch (...) {  // the system has no thread to give: the ones that run do the work
        break;
      }
      ++queue.running;
      placement->send_away(workers.back());
    }
  } catch (...) {
    queue.fail(std::current_exception());
  }

  CallerCheckpoint checkpoint(queue, execution.interrupted);
  work(checkpoint);
  // The caller has run out of chunks but still answers Ctrl-C while the others finish theirs.
  auto all_left = [&] {
    std::unique_lock<std::mutex> lock(queue.mutex);
    return queue.done.wait_for(lock, poll_interval, [&] { return queue.running == 0; });
  };
  while (!all_left()) {
    try {
      checkpoint();
    } catch (const Stopped&) {
    } catch (...) {
      queue.fail(std::current_exception());
    }
  }
  for (auto& worker : workers) worker.join();
  if (queue.error) std::rethrow_exception(queue.error);
}

}  // namespace spectralcls
