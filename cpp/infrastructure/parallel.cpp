#include "infrastructure/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace spectralcls {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_interval = std::chrono::milliseconds(100);
constexpr auto busy_interval = std::chrono::microseconds(50);  // of busy waiting; falling asleep takes about as long

// Waits for a condition without sleeping. Returns false if the condition does not become true within busy_interval.
template <class Condition>
bool comes_soon(Condition&& condition) {
  for (const auto begin = Clock::now(); Clock::now() - begin < busy_interval;)
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  return false;
}

struct Stopped {};  // unwinds a thread after another has failed

}  // namespace

// The interface through which threads help in a parallel region. The threads may belong to another library, so no
// function of the interface may throw.
class Region {
 public:
  virtual void help() noexcept = 0;  // called by each helping thread
  virtual void poll() noexcept = 0;  // called from time to time by the caller while it waits

 protected:
  ~Region() = default;
};

class Team {
 public:
  virtual ~Team() = default;
  // Lets up to n threads help in the region. Returns false if the team is busy.
  virtual bool open(Region& region, index_t n) = 0;
  // Closes the region, and returns once all threads have left it.
  virtual void close(Region& region) = 0;
};

namespace {

class WorkerCheckpoint final : public Checkpoint {
 public:
  explicit WorkerCheckpoint(const std::atomic<bool>& stop) : stop_(stop) {}
  void operator()() override {
    if (stop_) throw Stopped{};
  }

 private:
  const std::atomic<bool>& stop_;
};

class CallerCheckpoint final : public Checkpoint {
 public:
  CallerCheckpoint(const std::atomic<bool>& stop, const std::function<bool()>& interrupted)
      : stop_(stop), interrupted_(interrupted) {}
  void operator()() override {
    if (stop_) throw Stopped{};
    if (interrupted_ && interrupted_()) throw Interrupted{};
  }

 private:
  const std::atomic<bool>& stop_;
  const std::function<bool()>& interrupted_;
};

// A region with its remaining chunks.
class Chunks final : public Region {
 public:
  using Body = std::function<void(index_t, Checkpoint&)>;

  Chunks(index_t count, const Body& body, const std::function<bool()>& interrupted)
      : count_(count), body_(body), checkpoint_(stop_, interrupted) {}

  // The caller's part of the work.
  void work() noexcept { work(checkpoint_); }
  void help() noexcept override {
    WorkerCheckpoint checkpoint(stop_);
    work(checkpoint);
  }
  void poll() noexcept override {
    guard([&] { checkpoint_(); });
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(Checkpoint& checkpoint) noexcept {
    guard([&] {
      while (!stop_) {
        const index_t chunk = next_++;
        if (chunk >= count_) return;
        checkpoint();
        body_(chunk, checkpoint);
      }
    });
  }
  // Calls a function. Keeps the first exception, which ends the region.
  template <class Function>
  void guard(Function&& function) noexcept {
    try {
      function();
    } catch (const Stopped&) {
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }

  const index_t count_;
  const Body& body_;
  std::atomic<index_t> next_{0};
  std::atomic<bool> stop_{false};
  CallerCheckpoint checkpoint_;
  std::mutex mutex_;
  std::exception_ptr error_;
};

int available_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// Keeps workers off the processor of the caller. A worker may start or wake up on that processor. Schedulers that pack
// threads, to let other processors sleep, would move the worker away only at the next tick, milliseconds later. If the
// caller has moved to another processor, the workers are sent away again at the next region.
class Placement {
 public:
#if defined(__linux__)
  Placement() {
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {
      n_processors_ = CPU_COUNT(&allowed_);
    } else {
      CPU_ZERO(&allowed_);
    }
  }
  // The number of processors that the caller may use. Additional threads would only wait for a processor.
  int n_processors() const { return n_processors_; }
  // Returns whether the caller has moved since the last call.
  bool moved() {
    const int here = sched_getcpu();
    return std::exchange(here_, here) != here;
  }
  void send_away(std::thread& worker) const {  // the worker must still run, or glibc would move the caller
    cpu_set_t elsewhere = allowed_;
    CPU_CLR(here_, &elsewhere);
    if (CPU_COUNT(&elsewhere) > 0) pthread_setaffinity_np(worker.native_handle(), sizeof elsewhere, &elsewhere);
  }

 private:
  cpu_set_t allowed_;
  int here_ = -1, n_processors_ = available_processors();
#else
  int n_processors() const { return available_processors(); }
  bool moved() { return false; }
  void send_away(std::thread&) const {}
#endif
};

// A team whose workers wait for the next region, busy-waiting briefly before they sleep. The caller waits only for
// workers that have entered the region. A worker that starts or wakes up too late finds the region closed.
class Threads final : public Team {
 public:
  ~Threads() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
      ++round_;
    }
    opened_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  bool open(Region& region, index_t n) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (region_ || n_inside_ > 0) return false;  // the call comes from inside a region, which may be closed already
      const bool hired = n > n_hired_for_;
      if (hired) hire(n);
      if (placement_.moved() || hired)
        for (std::thread& worker : workers_) placement_.send_away(worker);
      region_ = &region;
      n_wanted_ = n;
      ++round_;
    }
    opened_.notify_all();
    return true;
  }

  void close(Region& region) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      region_ = nullptr;
    }
    if (comes_soon([&] { return n_inside_ == 0; })) return;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!left_.wait_for(lock, poll_interval, [&] { return n_inside_ == 0; })) {
      lock.unlock();
      region.poll();
      lock.lock();
    }
  }

 private:
  void hire(index_t n) {
    n_hired_for_ = n;
    try {
      n = std::min<index_t>(n, placement_.n_processors() - 1);
      while (length(workers_) < n) {
        const auto place = length(workers_);
        workers_.emplace_back([this, place] { serve(place); });
      }
    } catch (...) {  // out of threads or memory: the existing workers do the work
    }
  }

  void serve(index_t place) {
    for (std::uint64_t seen = 0;;) {
      comes_soon([&] { return round_ != seen; });
      std::unique_lock<std::mutex> lock(mutex_);
      opened_.wait(lock, [&] { return round_ != seen; });
      if (over_) return;
      seen = round_;
      if (!region_ || place >= n_wanted_) continue;
      Region& region = *region_;
      ++n_inside_;
      lock.unlock();
      region.help();
      lock.lock();
      if (--n_inside_ == 0) left_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  Placement placement_;
  std::mutex mutex_;
  std::condition_variable opened_, left_;
  std::atomic<std::uint64_t> round_{0};  // changes with each region, under the mutex
  std::atomic<index_t> n_inside_{0};     // workers inside a region; changes under the mutex
  Region* region_ = nullptr;
  index_t n_wanted_ = 0, n_hired_for_ = 0;
  bool over_ = false;
};

}  // namespace

std::shared_ptr<Team> make_team() { return std::make_shared<Threads>(); }

Execution Execution::for_work(double operations) const {
  // This many operations take about a quarter of a millisecond. Starting a thread takes about fifty microseconds.
  constexpr double worth_a_thread = 1e6;
  const double most = 1 + operations / worth_a_thread;
  return {most < n_threads ? static_cast<int>(most) : n_threads, interrupted, team};
}

void for_each_chunk(index_t n_chunks, const Execution& execution,
                    const std::function<void(index_t, Checkpoint&)>& body) {
  if (n_chunks <= 0) return;
  Chunks chunks(n_chunks, body, execution.interrupted);
  const auto n_workers = std::min<index_t>(std::max(execution.n_threads, 1), n_chunks) - 1;
  const std::shared_ptr<Team> team = n_workers == 0 || execution.team ? execution.team : make_team();
  const bool helped = n_workers > 0 && team->open(chunks, n_workers);
  chunks.work();
  if (helped) team->close(chunks);
  chunks.rethrow();
}

}  // namespace spectralcls
