// A chunk queue over threads: who computes a chunk never decides what is computed.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "infrastructure/matrix.hpp"

namespace spectralcls {

// Thrown inside a parallel region once the caller's `interrupted` has answered yes.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Threads of one call, which all its parallel regions share: starting one takes as long as some regions do. They end
// with the call, so that nothing is left behind that a fork could break.
class Team;
std::shared_ptr<Team> make_team();

// How a computation runs. `interrupted` is asked at every checkpoint of the calling thread, and by no other: what is
// expensive about it has to be done a few times a second only, over all parallel regions of a call.
struct Execution {
  int n_threads = 1;
  std::function<bool()> interrupted;
  std::shared_ptr<Team> team;  // if there is none, each region starts threads of its own

  // The same, on as many threads as the work is worth: each takes longer for its share than it takes to start.
  Execution for_work(double operations) const;
};

// Handed to every chunk; long chunks call checkpoint() every few milliseconds so that Ctrl-C and an exception
// in another worker are answered promptly.
class Checkpoint {
 public:
  virtual void operator()() = 0;

 protected:
  ~Checkpoint() = default;
};

// Calls body(chunk, checkpoint) for chunk = 0 ... n_chunks - 1, each exactly once, in increasing order of start.
// The calling thread works too; there are never more threads than chunks or than processors that the caller may use.
// The first exception is rethrown here after every worker has stopped.
void for_each_chunk(index_t n_chunks, const Execution& execution,
                    const std::function<void(index_t, Checkpoint&)>& body);

}  // namespace spectralcls
