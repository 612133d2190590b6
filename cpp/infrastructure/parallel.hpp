// A queue of chunks that several threads compute. The result never depends on which thread computes a chunk.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// Thrown inside a parallel region after Execution::interrupted has returned true.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// The threads of one call. All parallel regions of the call share the threads, because starting a thread takes as long
// as a short region. The threads end with the call, so a fork between calls loses no thread.
class Team;
std::shared_ptr<Team> make_team();

// How a computation runs. Only the calling thread calls `interrupted`, at every checkpoint. If its check is expensive,
// `interrupted` itself must limit the checks to a few per second, counted over all parallel regions of a call.
struct Execution {
  int n_threads = 1;
  std::function<bool()> interrupted;
  std::shared_ptr<Team> team;  // nullptr: each region starts separate threads

  // Returns the same execution with at most as many threads as pay off for the given number of operations. A thread
  // pays off if its share of the work takes longer than starting the thread.
  Execution for_work(double operations) const;
};

// A checkpoint is passed to the computation of every chunk. Calling the checkpoint throws after Ctrl-C or after an
// exception in another thread. A long chunk calls its checkpoint every few milliseconds and thus ends promptly.
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
