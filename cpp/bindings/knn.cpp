#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// Points, with an index if Python keeps the points for many searches.
template <class T>
struct IndexedPoints {
  Array<T> points;
  std::shared_ptr<const NeighborIndex<T>> index;
};

template <class T>
void check_points(const Array<T>& Q, const Array<T>& X) {
  if (X.shape(0) == 0) refuse("X must have at least one row.");
  if (Q.shape(1) != X.shape(1))
    refuse("Q has " + std::to_string(Q.shape(1)) + " features, but X has " + std::to_string(X.shape(1)) + ".");
}

py::object index_points(const py::object& points) {
  return dispatch(points, "X", [&](auto zero) -> py::object {
    using T = decltype(zero);
    IndexedPoints<T> kept{finite_matrix<T>(points, "X"), nullptr};
    check_points<T>(kept.points, kept.points);
    kept.index = functions<T>().index_points(view(kept.points));
    return py::cast(std::move(kept));
  });
}

// Returns the largest absolute value, or NaN if any value is NaN. Computed here because NumPy would take longer than a
// search for a few queries.
double largest_size(const py::object& values) {
  return dispatch(values, "values", [&](auto zero) {
    using T = decltype(zero);
    if (!py::isinstance<Array<T>>(values)) refuse("values must be C-contiguous.");
    const auto array = py::reinterpret_borrow<Array<T>>(values);
    return static_cast<double>(functions<T>().largest_size(array.data(), array.size()));
  });
}

Search search(const py::object& algorithm) {
  const std::string name = name_of(algorithm, "algorithm");
  if (name == "auto") return Search::automatic;
  if (name == "brute") return Search::tiles;
  if (name != "kd_tree") refuse("algorithm must be 'auto', 'brute' or 'kd_tree', got '" + name + "'.");
  return Search::tree;
}

template <class T>
py::tuple nearest(const Array<T>& Q, const IndexedPoints<T>& to, const py::object& n_neighbors, Search way,
                  const py::object& n_threads) {
  check_points<T>(Q, to.points);
  const index_t k = integer(n_neighbors, "k", 1, to.points.shape(0));
  Array<T> distances = allocate<T>({Q.shape(0), k}, "Distances to queries x neighbors");
  Array<std::int64_t> indices = allocate<std::int64_t>({Q.shape(0), k}, "Indices of queries x neighbors");
  const MatrixView<T> queries = view(Q), points = view(to.points);
  T* to_distances = distances.mutable_data();
  std::int64_t* to_indices = indices.mutable_data();
  const Execution run = execution(n_threads);
  if (queries.rows > 0)
    without_gil([&] {
      functions<T>().nearest_neighbors(queries, points, to.index.get(), k, way, to_distances, to_indices, run);
    });
  return py::make_tuple(distances, indices);
}

py::tuple knn(const py::object& queries, const py::object& points, const py::object& n_neighbors,
              const py::object& algorithm, const py::object& n_threads) {
  const Search way = search(algorithm);
  auto of_index = [&](auto zero) {
    using T = decltype(zero);
    return nearest<T>(finite_matrix<T>(queries, "Q"), points.cast<const IndexedPoints<T>&>(), n_neighbors, way,
                      n_threads);
  };
  if (py::isinstance<IndexedPoints<float>>(points)) return of_index(float{});
  if (py::isinstance<IndexedPoints<double>>(points)) return of_index(double{});
  return dispatch(points, "X", [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    return nearest<T>(finite_matrix<T>(queries, "Q"), {finite_matrix<T>(points, "X"), nullptr}, n_neighbors, way,
                      n_threads);
  });
}

py::tuple reverse_knn(const py::object& queries, const py::object& points, const py::object& radii,
                      const py::object& n_threads) {
  return dispatch(points, "X", [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const Array<T> Q = finite_matrix<T>(queries, "Q"), X = finite_matrix<T>(points, "X");
    check_points<T>(Q, X);
    const Array<T> limits = vector<T>(radii, "radii", X.shape(0));
    const MatrixView<T> from = view(Q), to = view(X);
    const Execution run = execution(n_threads);
    NeighborLists<T> lists;
    lists.first.assign(1, 0);
    if (from.rows > 0) without_gil([&] { lists = functions<T>().reverse_neighbors(from, to, limits.data(), run); });
    return py::make_tuple(to_array(lists.first), to_array(lists.indices), to_array(lists.distances));
  });
}

}  // namespace

void register_knn(py::module_& module) {
  py::class_<IndexedPoints<float>>(module, "IndexedPoints32");
  py::class_<IndexedPoints<double>>(module, "IndexedPoints64");
  module.def("index_points", &index_points, py::arg("points"));
  module.def("largest_size", &largest_size, py::arg("values"));
  module.def("knn", &knn, py::arg("queries"), py::arg("points"), py::arg("k"), py::arg("algorithm"),
             py::arg("n_threads"));
  module.def("reverse_knn", &reverse_knn, py::arg("queries"), py::arg("points"), py::arg("radii"),
             py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
