#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

template <class T>
std::pair<Array<T>, Array<T>> check_points(const py::object& queries, const py::object& points) {
  std::pair<Array<T>, Array<T>> both{matrix<T>(queries, "Q"), matrix<T>(points, "X")};
  const auto& [Q, X] = both;
  if (X.shape(0) == 0) refuse("X must have at least one row.");
  if (Q.shape(1) != X.shape(1))
    refuse("Q has " + std::to_string(Q.shape(1)) + " features, but X has " + std::to_string(X.shape(1)) + ".");
  return both;
}

Search search(const py::object& algorithm) {
  const std::string name = name_of(algorithm, "algorithm");
  if (name == "auto") return Search::automatic;
  if (name == "brute") return Search::tiles;
  if (name != "kd_tree") refuse("algorithm must be 'auto', 'brute' or 'kd_tree', got '" + name + "'.");
  return Search::tree;
}

py::tuple knn(const py::object& queries, const py::object& points, const py::object& n_neighbors,
              const py::object& algorithm, const py::object& n_threads) {
  const Search way = search(algorithm);
  return dispatch(points, "X", [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const auto [Q, X] = check_points<T>(queries, points);
    const index_t k = integer(n_neighbors, "k", 1, X.shape(0));
    Array<T> distances = allocate<T>({Q.shape(0), k}, "Distances to queries x neighbors");
    Array<std::int64_t> indices = allocate<std::int64_t>({Q.shape(0), k}, "Indices of queries x neighbors");
    const MatrixView<T> from = view(Q), to = view(X);
    T* to_distances = distances.mutable_data();
    std::int64_t* to_indices = indices.mutable_data();
    const Execution run = execution(n_threads);
    if (from.rows > 0)
      without_gil([&] { functions<T>().nearest_neighbors(from, to, k, way, to_distances, to_indices, run); });
    return py::make_tuple(distances, indices);
  });
}

py::tuple reverse_knn(const py::object& queries, const py::object& points, const py::object& radii,
                      const py::object& n_threads) {
  return dispatch(points, "X", [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const auto [Q, X] = check_points<T>(queries, points);
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
  module.def("knn", &knn, py::arg("queries"), py::arg("points"), py::arg("k"), py::arg("algorithm"),
             py::arg("n_threads"));
  module.def("reverse_knn", &reverse_knn, py::arg("queries"), py::arg("points"), py::arg("radii"),
             py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
