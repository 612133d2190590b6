// Nearest neighbours for NumPy arrays; shapes and values are checked by the Python layer.
#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

template <class T>
void check(const MatrixView<T>& queries, const MatrixView<T>& points) {
  if (queries.cols != points.cols) throw std::invalid_argument("queries and points differ in features");
}

template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

template <class T>
py::tuple knn(const Array<T>& queries, const Array<T>& points, index_t k, int n_threads) {
  const MatrixView<T> Q = matrix(queries), X = matrix(points);
  check(Q, X);
  if (k < 1 || k > X.rows) throw std::invalid_argument("k must be in 1 ... number of points");
  Array<T> distances({Q.rows, k});
  Array<std::int64_t> indices({Q.rows, k});
  T* to_distances = distances.mutable_data();
  std::int64_t* to_indices = indices.mutable_data();
  const Execution run = execution(n_threads);
  without_gil([&] { functions<T>().nearest_neighbors(Q, X, k, to_distances, to_indices, run); });
  return py::make_tuple(distances, indices);
}

template <class T>
py::tuple reverse_knn(const Array<T>& queries, const Array<T>& points, const Array<T>& radii, int n_threads) {
  const MatrixView<T> Q = matrix(queries), X = matrix(points);
  check(Q, X);
  if (radii.ndim() != 1 || radii.shape(0) != X.rows) throw std::invalid_argument("expected one radius per point");
  const T* limits = radii.data();
  const Execution run = execution(n_threads);
  NeighborLists<T> lists;
  without_gil([&] { lists = functions<T>().reverse_neighbors(Q, X, limits, run); });
  return py::make_tuple(to_array(lists.first), to_array(lists.indices), to_array(lists.distances));
}

template <class T>
void register_for(py::module_& module) {
  module.def("knn", &knn<T>, py::arg("queries").noconvert(), py::arg("points").noconvert(), py::arg("k"),
             py::arg("n_threads"));
  module.def("reverse_knn", &reverse_knn<T>, py::arg("queries").noconvert(), py::arg("points").noconvert(),
             py::arg("radii").noconvert(), py::arg("n_threads"));
}

}  // namespace

void register_knn(py::module_& module) {
  register_for<float>(module);
  register_for<double>(module);
}

}  // namespace spectralcls::bindings
