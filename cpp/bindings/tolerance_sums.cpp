// Kernel sums within a tolerance; shapes and values are checked by the Python layer.
#include <optional>

#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

py::object tolerance_sums(const Array<double>& queries, const Array<double>& points,
                          const std::optional<Array<double>>& weights,
                          const std::optional<Array<std::int64_t>>& labels, int n_labels, const std::string& kernel,
                          double bandwidth, const std::optional<Array<std::int64_t>>& excluded, double rtol, double atol,
                          double brute_pair, const std::string& strategy, int n_threads) {
  ToleranceSums request;
  request.queries = {queries.data(), queries.shape(0), queries.shape(1)};
  request.points = {points.data(), points.shape(0), points.shape(1)};
  if (weights) {
    request.weights = weights->data();
    request.n_columns = weights->shape(1);
  }
  request.labels = labels ? labels->data() : nullptr;
  request.n_labels = n_labels;
  request.kernel = kernel_from_name(kernel);
  request.bandwidth = bandwidth;
  request.excluded = excluded ? excluded->data() : nullptr;
  request.rtol = rtol;
  request.atol = atol;
  request.brute_pair = brute_pair;
  using Strategy = ToleranceSums::Strategy;
  if (strategy == "pairs") request.strategy = Strategy::pairs;
  else if (strategy == "lattice") request.strategy = Strategy::lattice;
  else if (strategy != "automatic") throw std::invalid_argument("unknown strategy '" + strategy + "'");

  Array<double> sums({queries.shape(0), py::ssize_t{n_labels}, py::ssize_t{request.n_columns}});
  double* out = sums.mutable_data();
  const Execution run = execution(n_threads);
  auto outcome = ToleranceSums::Outcome::done;
  without_gil([&] { outcome = function_table().tolerance_sums(request, out, run); });
  if (outcome == ToleranceSums::Outcome::brute_force_is_faster) return py::none();
  return sums;
}

}  // namespace

void register_tolerance_sums(py::module_& module) {
  module.def("tolerance_sums", &tolerance_sums, py::arg("queries").noconvert(), py::arg("points").noconvert(),
             py::arg("weights").noconvert().none(true), py::arg("labels").noconvert().none(true), py::arg("n_labels"),
             py::arg("kernel"), py::arg("bandwidth"), py::arg("excluded").noconvert().none(true), py::arg("rtol"),
             py::arg("atol"), py::arg("brute_pair"), py::arg("strategy"), py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
