// What the tests in Python cannot reach: callers that are interrupted at a given step, and templates. They take a few
// seconds. ctest runs this program once for each variant that the machine supports. The arguments are the library of
// the variant and the library compiled from vector_tests.cpp for the same instruction set.
#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "isa/loader.hpp"
#include "tests/check.hpp"

using namespace spectralcls;

namespace {

Execution threads(int n) {
  Execution run;
  run.n_threads = n;
  run.team = make_team();
  return run;
}

// Several threads share the same kept points and index; the first caller packs the points and builds the index. Half of
// the callers are interrupted in their first call.
template <class T>
void callers_share_kept_points() {
  constexpr index_t n = 4000, m = 100, d = 3, k = 5;
  const std::vector<T> X = normal<T>(n * d, 9), Q = normal<T>(m * d, 10);
  const MatrixView<T> queries{Q.data(), m, d}, points{X.data(), n, d};
  struct Kept {
    std::shared_ptr<const PackedPointsCache<T>> cache;
    std::shared_ptr<const NeighborIndex<T>> index;
  };
  const auto kept = [&] {
    return Kept{functions<T>().pack_points(points, nullptr, 1, nullptr, 1), functions<T>().index_points(points)};
  };
  const auto answers = [&](const Kept& of, const Execution& run) {
    std::vector<T> found(m * (2 + k));
    T* out = found.data();
    for (const double bandwidth : {0.03, 1.0}) {  // most pairs pruned, or none
      KernelSums<T> request;
      request.queries = queries;
      request.points = points;
      request.cache = of.cache;
      request.bandwidths = {bandwidth};
      functions<T>().kernel_sums(request, Form::plain, nullptr, out, run);
      out += m;
    }
    std::vector<std::int64_t> indices(m * k);
    functions<T>().nearest_neighbors(queries, points, of.index.get(), k, Search::automatic, out, indices.data(), run);
    return found;
  };
  const std::vector<T> expected = answers(kept(), threads(1));
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Kept shared = kept();
    std::vector<std::vector<T>> found(4);
    std::vector<std::thread> callers;
    for (index_t i = 0; i < length(found); ++i)
      callers.emplace_back([&, i] {
        Execution run = threads(2);
        run.interrupted = [] { return true; };
        try {
          if (i % 2 == 0) answers(shared, run);
        } catch (const Interrupted&) {}
        found[i] = answers(shared, threads(2));
      });
    for (std::thread& caller : callers) caller.join();
    for (const std::vector<T>& one : found) CHECK(one == expected);
  }
}

// Runs the tests of a library compiled from vector_tests.cpp. Returns the number of failures.
int vector_tests(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<int (*)()>(dlsym(library, "spectralcls_vector_tests"))();
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const std::string path = n_arguments > 2 ? arguments[1] : "";
  bool runs_here = false;
  for (const std::string& name : supported_variants()) runs_here |= path.find("_" + name + ".") != std::string::npos;
  if (!runs_here) return 77;  // ctest treats this as skipped
  load_variant(path);
  callers_share_kept_points<float>();
  callers_share_kept_points<double>();
  return n_failed + vector_tests(arguments[2]) != 0;
}
