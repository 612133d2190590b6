// A queue of chunks that several threads compute. The result never depends on which thread computes a chunk.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// Thrown inside a parallel region after the caller's `interrupted` has returned true.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// The threads of one call. All its parallel regions share them, because starting a thread takes as long as a short
// region. They end with the call, so that no thread is lost in a fork between calls.
class Team;
std::shared_ptr<Team> make_team();

// How a computation runs. Only the calling thread calls `interrupted`, at every checkpoint. If the check is expensive,
// the function itself must limit it to a few times a second, over all parallel regions of a call.
struct Execution {
  int n_threads = 1;
  std::function<bool()> interrupted;
  std::shared_ptr<Team> team;  // nullptr: each region starts its own threads

  // Returns the same execution with no more threads than the work is worth. A thread is worth starting if its share of
  // the work takes longer than starting it.
  Execution for_work(double operations) const;
};

// Every chunk receives one. Long chunks call it every few milliseconds, so that Ctrl-C, or an exception in another
// worker, ends them promptly.
class Checkpoint {
 public:
  virtual void operator()() = 0;

 protected:
  ~Checkpoint() = default;
};

// Calls body(chunk, checkpoint) for chunk = 0 ... n_chunks - 1. Each chunk is computed exactly once, and chunks start
// in increasing order. The calling thread works too. There are never more threads than chunks, or than processors that
// the caller may use. The first exception is rethrown after every worker has stopped.
void for_each_chunk(index_t n_chunks, const Execution& execution,
                    const std::function<void(index_t, Checkpoint&)>& body);

}  // namespace spectralcls
