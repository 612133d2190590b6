// Unit tests of the core that need no Python. They take a few seconds. ctest runs this program once for each variant
// that the machine supports. The arguments are the library of the variant and the library compiled from
// vector_tests.cpp for the same instruction set.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "isa/loader.hpp"
#include "krylov/eigen.hpp"
#include "krylov/lapack.hpp"
#include "neighbors/selection.hpp"
#include "tests/check.hpp"

using namespace spectralcls;

namespace {

Execution threads(int n) {
  Execution run;
  run.n_threads = n;
  run.team = make_team();
  return run;
}

void every_chunk_is_worked_on_once() {
  for (const Execution& run : {threads(1), threads(4), Execution{4, {}, {}}})
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> times(97);
      for_each_chunk(97, run, [&](index_t chunk, Checkpoint&) {
        ++times[chunk];
        if (chunk % 16 == 0) for_each_chunk(3, run, [](index_t, Checkpoint& checkpoint) { checkpoint(); });
      });
      CHECK(std::count(times.begin(), times.end(), 1) == 97);
    }
}

void the_first_exception_comes_back_and_the_team_goes_on() {
  const Execution run = threads(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      for_each_chunk(50, run, [&](index_t chunk, Checkpoint&) {
        if (chunk == repeat) throw std::runtime_error("stop");
      });
      CHECK(false);
    } catch (const std::runtime_error& error) {
      CHECK(std::strcmp(error.what(), "stop") == 0);
    }
  }
}

void selection_divides_keys() {
  std::vector<float> keys = normal<float>(32768, 1);
  for (index_t i = 0; i < length(keys); i += 3) keys[i] = 0.5f;  // ties
  for (int i = 0; i < 7; ++i) keys[length(keys) - 1 - i] = std::nanf("");
  std::vector<float> sorted(keys.begin(), keys.end() - 7);
  std::sort(sorted.begin(), sorted.end());
  detail::Selection<float> selection;
  for (const index_t rank : {1, 17, 9000, 20000, 32700}) {
    const detail::Cut<float> cut = selection(keys.data(), length(keys), rank);
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), cut.threshold) - sorted.begin();
    const auto at_most = std::upper_bound(sorted.begin(), sorted.end(), cut.threshold) - sorted.begin();
    CHECK(below + cut.n_equal == rank && below + cut.n_equal <= at_most);
  }
}

template <class T>
void neighbors_are_those_of_all_distances() {
  constexpr index_t n = 3000, m = 200, d = 3, k = 7;
  std::vector<T> X = normal<T>(n * d, 2), Q = normal<T>(m * d, 3);
  for (T& x : X) x = std::round(x * 8) / 8;  // ties and duplicates
  for (T& q : Q) q = std::round(q * 8) / 8;
  const MatrixView<T> queries{Q.data(), m, d}, points{X.data(), n, d};
  const auto index = functions<T>().index_points(points);
  struct Case {
    Search search;
    int n_threads;
    const NeighborIndex<T>* index;
  };
  const Case cases[] = {{Search::tree, 1, nullptr},     {Search::tree, 4, nullptr},
                        {Search::tiles, 1, nullptr},    {Search::tiles, 4, nullptr},
                        {Search::tree, 4, index.get()}, {Search::automatic, 1, index.get()}};
  for (const Case& one : cases) {
    std::vector<T> distances(m * k);
    std::vector<std::int64_t> indices(m * k);
    functions<T>().nearest_neighbors(queries, points, one.index, k, one.search, distances.data(), indices.data(),
                                     threads(one.n_threads));
    for (index_t i = 0; i < m; ++i) {
      std::vector<std::pair<double, std::int64_t>> all;
      for (index_t j = 0; j < n; ++j) {
        double squared = 0;
        for (index_t a = 0; a < d; ++a) squared += std::pow(double(Q[i * d + a]) - double(X[j * d + a]), 2);
        all.emplace_back(squared, j);
      }
      std::partial_sort(all.begin(), all.begin() + k, all.end());
      for (index_t r = 0; r < k; ++r) {
        CHECK(indices[i * k + r] == all[r].second);
        CHECK(distances[i * k + r] == static_cast<T>(std::sqrt(all[r].first)));
      }
    }
  }
}

template <class T>
void sums_are_those_of_all_terms() {
  constexpr index_t n = 700, m = 40, d = 5;
  const std::vector<T> X = normal<T>(n * d, 4), Q = normal<T>(m * d, 5), W = normal<T>(n * 2, 6);
  KernelSums<T> request;
  request.queries = {Q.data(), m, d};
  request.points = {X.data(), n, d};
  request.weights = W.data();
  request.n_columns = 2;
  request.bandwidths = {0.8, 3.0};
  std::vector<T> sums(m * 2 * 2), again(sums.size());
  functions<T>().kernel_sums(request, Form::plain, nullptr, sums.data(), threads(1));
  functions<T>().kernel_sums(request, Form::plain, nullptr, again.data(), threads(3));
  CHECK(sums == again);
  const double rounding = sizeof(T) == 4 ? 1e-5 : 1e-12;
  for (index_t i = 0; i < m; ++i)
    for (index_t b = 0; b < 2; ++b)
      for (index_t c = 0; c < 2; ++c) {
        long double sum = 0, absolute = 0;
        for (index_t j = 0; j < n; ++j) {
          long double squared = 0;
          for (index_t a = 0; a < d; ++a) squared += std::pow((long double)Q[i * d + a] - X[j * d + a], 2);
          const long double term = W[j * 2 + c] * std::exp(-squared / 2 / std::pow(request.bandwidths[b], 2));
          sum += term;
          absolute += std::abs(term);
        }
        CHECK(std::abs(sums[(i * 2 + b) * 2 + c] - sum) <= rounding * absolute);
      }
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

template <class T>
void products_are_those_of_loops() {
  constexpr index_t n = 130;
  const std::vector<T> A = normal<T>(n * n, 7);
  std::vector<std::int64_t> starts(n + 1);
  std::vector<std::int32_t> columns(n * n);
  for (index_t i = 0; i < n; ++i) starts[i + 1] = (i + 1) * n;
  for (index_t i = 0; i < n * n; ++i) columns[i] = static_cast<std::int32_t>(i % n);
  for (const index_t width : {1, 2, 8, 19}) {
    const std::vector<T> x = normal<T>(n * width, 8);
    std::vector<T> dense(n * width), sparse(n * width);
    functions<T>().dense_product(A.data(), n, x.data(), dense.data(), width, threads(2));
    functions<T>().csr_product({starts.data(), columns.data(), A.data(), n}, x.data(), sparse.data(), width,
                               threads(2));
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 0; c < width; ++c) {
        double sum = 0;
        for (index_t j = 0; j < n; ++j) sum += double(A[i * n + j]) * double(x[j * width + c]);
        CHECK(std::abs(dense[i * width + c] - sum) < 2000 * std::numeric_limits<T>::epsilon());
        CHECK(std::abs(sparse[i * width + c] - sum) < 2000 * std::numeric_limits<T>::epsilon());
      }
  }
}

// A replacement for LAPACK's dsyevd that uses Jacobi rotations, for the small problems of these tests.
int jacobi(char, int n, double* a, double* values, double*, int, int*, int) {
  std::vector<double> v(n * n);
  for (int i = 0; i < n; ++i) v[i * n + i] = 1;
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double angle = std::atan2(2 * a[q * n + p], a[q * n + q] - a[p * n + p]) / 2;
        const double c = std::cos(angle), s = std::sin(angle);
        auto turn = [&](double& x, double& y) { std::tie(x, y) = std::make_pair(c * x - s * y, s * x + c * y); };
        for (int i = 0; i < n; ++i) turn(a[p * n + i], a[q * n + i]);
        for (int i = 0; i < n; ++i) turn(a[i * n + p], a[i * n + q]);
        for (int i = 0; i < n; ++i) turn(v[p * n + i], v[q * n + i]);
      }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return a[i * n + i] < a[j * n + j]; });
  for (int j = 0; j < n; ++j) values[j] = a[order[j] * n + order[j]];
  for (int j = 0; j < n; ++j) std::copy_n(v.data() + order[j] * n, n, a + j * n);
  return 0;
}

// Tests a diagonal operator with an eigenvalue of multiplicity five, which exceeds both block widths.
template <class T>
void multiple_eigenvalues_are_found() {
  constexpr index_t n = 300, k = 8;
  std::vector<double> diagonal(n);
  for (index_t i = 0; i < n; ++i) diagonal[i] = i < 5 ? 10.0 : 9.0 - 0.02 * static_cast<double>(i);
  const BlockOperator<T> apply = [&](const T* x, T* y, index_t columns) {
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 0; c < columns; ++c) y[i * columns + c] = static_cast<T>(diagonal[i]) * x[i * columns + c];
  };
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-9;
  for (const index_t width : {2, 4}) {
    const Eigenpairs<T> found =
        top_eigenpairs<T>(n, apply, {nullptr, n, 0}, {nullptr, n, 0}, {k, width, 40, 2000, tolerance, 0, 1},
                          functions<T>().tall_products, threads(2));
    CHECK(found.status == EigenStatus::converged && length(found.values) == k);
    for (index_t j = 0; j < length(found.values); ++j) CHECK(std::abs(found.values[j] - diagonal[j]) < 20 * tolerance);
    for (index_t j = 0; j < length(found.values); ++j) {
      double norm = 0, residual = 0;
      for (index_t i = 0; i < n; ++i) {
        const double v = found.vectors[(i * k) + j];
        norm += v * v;
        residual += std::pow((diagonal[i] - found.values[j]) * v, 2);
      }
      CHECK(std::abs(norm - 1) < 1e-4 && std::sqrt(residual) < 20 * tolerance * 10);
    }
  }
}

template <class T>
void of_one_type() {
  neighbors_are_those_of_all_distances<T>();
  sums_are_those_of_all_terms<T>();
  callers_share_kept_points<T>();
  products_are_those_of_loops<T>();
  multiple_eigenvalues_are_found<T>();
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
  use_lapack({&jacobi});
  every_chunk_is_worked_on_once();
  the_first_exception_comes_back_and_the_team_goes_on();
  selection_divides_keys();
  of_one_type<float>();
  of_one_type<double>();
  return n_failed + vector_tests(arguments[2]) != 0;
}
