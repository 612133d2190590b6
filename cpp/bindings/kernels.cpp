// kernel_sums and kernel_matrix for NumPy arrays; shapes and values are checked by the Python layer.
#include <memory>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// Optional vector or matrix of the given number of rows.
template <class T>
const T* optional_data(const std::optional<Array<T>>& array, index_t rows) {
  if (!array) return nullptr;
  if (array->shape(0) != rows) throw std::invalid_argument("expected one entry per row");
  return array->data();
}

// Points that were packed for many calls, and the arrays that they came from.
template <class T>
struct PackedPoints {
  Array<T> points;
  std::optional<Array<T>> weights;
  std::optional<Array<std::int64_t>> labels;
  int n_labels;
  std::shared_ptr<const KernelPoints<T>> packed;

  PackedPoints(Array<T> x, std::optional<Array<T>> w, std::optional<Array<std::int64_t>> l, int n, int n_threads)
      : points(std::move(x)), weights(std::move(w)), labels(std::move(l)), n_labels(n) {
    const MatrixView<T> view = matrix(points);
    const T* columns = optional_data(weights, view.rows);
    const std::int64_t* label = optional_data(labels, view.rows);
    const index_t n_columns = weights ? weights->shape(1) : 1;
    const Execution run = execution(n_threads);
    without_gil([&] { packed = functions<T>().pack_points(view, label, n_labels, columns, n_columns, run); });
  }
};

template <class T>
py::object kernel_sums(const Array<T>& queries, const Array<T>& points, const std::optional<Array<T>>& weights,
                       const std::optional<Array<std::int64_t>>& labels, int n_labels, const std::string& kernel,
                       const Array<double>& bandwidths, const std::optional<Array<std::int64_t>>& excluded,
                       const std::optional<Array<std::int64_t>>& query_groups,
                       const std::optional<Array<std::int64_t>>& point_groups, int n_groups,
                       const std::string& output, int n_threads, std::shared_ptr<const KernelPoints<T>> packed = {}) {
  KernelSums<T> request;
  request.queries = matrix(queries);
  request.points = matrix(points);
  request.packed = std::move(packed);
  if (request.queries.cols != request.points.cols) throw std::invalid_argument("queries and points differ in features");
  request.weights = optional_data(weights, request.points.rows);
  request.weights_by_bandwidth = weights && weights->ndim() == 3;
  request.n_columns = weights ? weights->shape(weights->ndim() - 1) : 1;
  request.bandwidths.assign(bandwidths.data(), bandwidths.data() + bandwidths.size());
  request.bandwidths_by_label = bandwidths.ndim() == 2;
  if (request.bandwidths_by_label && bandwidths.shape(1) != n_labels) throw std::invalid_argument("expected a bandwidth for each label");
  if (request.weights_by_bandwidth && weights->shape(1) != bandwidths.shape(0))
    throw std::invalid_argument("expected weights for each bandwidth");
  request.labels = optional_data(labels, request.points.rows);
  request.n_labels = n_labels;
  request.kernel = kernel_from_name(kernel);
  request.excluded = optional_data(excluded, request.queries.rows);
  request.query_groups = optional_data(query_groups, request.queries.rows);
  request.point_groups = optional_data(point_groups, request.points.rows);
  request.n_groups = n_groups;

  const std::vector<py::ssize_t> cells{queries.shape(0), bandwidths.shape(0), n_labels};
  std::vector<py::ssize_t> shape = cells;
  shape.push_back(request.n_columns);
  Array<T> sums(shape);
  T* out = sums.mutable_data();
  const Execution run = execution(n_threads);
  if (output == "scaled") {
    Array<T> log_scale(cells);
    T* scale = log_scale.mutable_data();
    without_gil([&] { functions<T>().scaled_sums(request, scale, out, run); });
    return py::make_tuple(log_scale, sums);
  }
  if (output == "log") without_gil([&] { functions<T>().log_sums(request, out, run); });
  else without_gil([&] { functions<T>().plain_sums(request, out, run); });
  return sums;
}

// The same with points, labels and, unless others are given, weights that were packed before.
template <class T>
py::object packed_kernel_sums(const Array<T>& queries, const PackedPoints<T>& points, const std::optional<Array<T>>& weights,
                              const std::string& kernel, const Array<double>& bandwidths,
                              const std::optional<Array<std::int64_t>>& excluded, const std::string& output, int n_threads) {
  return kernel_sums<T>(queries, points.points, weights ? weights : points.weights, points.labels, points.n_labels, kernel,
                        bandwidths, excluded, {}, {}, 1, output, n_threads, points.packed);
}

template <class T>
void kernel_matrix(const Array<T>& queries, const std::optional<Array<T>>& points, const std::string& kernel,
                   double bandwidth, double factor, Array<T>& out, int n_threads) {
  const MatrixView<T> rows = matrix(queries), columns = points ? matrix(*points) : rows;
  if (rows.cols != columns.cols) throw std::invalid_argument("queries and points differ in features");
  if (out.ndim() != 2 || out.shape(0) != rows.rows || out.shape(1) != columns.rows)
    throw std::invalid_argument("the output has the wrong shape");
  T* values = out.mutable_data();
  const Kernel which = kernel_from_name(kernel);
  const Execution run = execution(n_threads);
  without_gil([&] {
    if (points) functions<T>().kernel_matrix(rows, columns, which, bandwidth, factor, values, columns.rows, run);
    else functions<T>().symmetric_kernel_matrix(rows, which, bandwidth, factor, values, columns.rows, run);
  });
}

template <class T>
void register_for(py::module_& module, const char* packed_points) {
  module.def("kernel_sums",
             [](const Array<T>& queries, const Array<T>& points, const std::optional<Array<T>>& weights,
                const std::optional<Array<std::int64_t>>& labels, int n_labels, const std::string& kernel,
                const Array<double>& bandwidths, const std::optional<Array<std::int64_t>>& excluded,
                const std::optional<Array<std::int64_t>>& query_groups, const std::optional<Array<std::int64_t>>& point_groups,
                int n_groups, const std::string& output, int n_threads) {
               return kernel_sums<T>(queries, points, weights, labels, n_labels, kernel, bandwidths, excluded, query_groups,
                                     point_groups, n_groups, output, n_threads);
             },
             py::arg("queries").noconvert(), py::arg("points").noconvert(),
             py::arg("weights").noconvert().none(true), py::arg("labels").noconvert().none(true), py::arg("n_labels"), py::arg("kernel"),
             py::arg("bandwidths"), py::arg("excluded").noconvert().none(true),
             py::arg("query_groups").noconvert().none(true), py::arg("point_groups").noconvert().none(true), py::arg("n_groups"),
             py::arg("output"), py::arg("n_threads"));
  py::class_<PackedPoints<T>>(module, packed_points);
  module.def("pack_points",
             [](const Array<T>& points, const std::optional<Array<T>>& weights, const std::optional<Array<std::int64_t>>& labels,
                int n_labels, int n_threads) { return PackedPoints<T>(points, weights, labels, n_labels, n_threads); },
             py::arg("points").noconvert(), py::arg("weights").noconvert().none(true), py::arg("labels").noconvert().none(true),
             py::arg("n_labels"), py::arg("n_threads"));
  module.def("packed_kernel_sums", &packed_kernel_sums<T>, py::arg("queries").noconvert(), py::arg("points"),
             py::arg("weights").noconvert().none(true), py::arg("kernel"), py::arg("bandwidths"),
             py::arg("excluded").noconvert().none(true), py::arg("output"), py::arg("n_threads"));
  module.def("kernel_matrix", &kernel_matrix<T>, py::arg("queries").noconvert(), py::arg("points").noconvert().none(true),
             py::arg("kernel"), py::arg("bandwidth"), py::arg("factor"), py::arg("out").noconvert(), py::arg("n_threads"));
}

}  // namespace

void register_kernels(py::module_& module) {
  register_for<float>(module, "PackedPoints32");
  register_for<double>(module, "PackedPoints64");
}

}  // namespace spectralcls::bindings
