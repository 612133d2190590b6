#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "arguments.hpp"
#include "points.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

void check_same_columns(index_t queries, index_t points) {
  if (queries != points)
    refuse("Q has " + std::to_string(queries) + " features, but X has " + std::to_string(points) + " features.");
}

// Checks and returns weights: (n,), (n, c) for c columns of sums, or (n, n_bandwidths, c) with separate weights for
// each bandwidth.
template <class T>
Array<T> check_weights(const py::handle& given, index_t n, index_t n_bandwidths) {
  auto weights = array<T>(given, "weights", 1, 3);
  if (weights.shape(0) != n || weights.size() == 0 || (weights.ndim() == 3 && weights.shape(1) != n_bandwidths))
    refuse("weights must have shape (" + std::to_string(n) + ",), (" + std::to_string(n) + ", c) or (" +
           std::to_string(n) + ", " + std::to_string(n_bandwidths) + ", c), got " + shape_of(weights) + ".");
  check_finite(weights, "weights");
  return weights;
}

std::int64_t largest(const Integers& values) {
  return values->size() == 0 ? -1 : *std::max_element(values->data(), values->data() + values->size());
}

template <class T>
bool any_negative(const std::optional<Array<T>>& weights) {
  return weights && std::any_of(weights->data(), weights->data() + weights->size(), [](T x) { return x < 0; });
}

// Checks a bandwidth, or bandwidths (b,) or (b, n_labels), and sets those of the request. Returns the number of axes.
template <class T>
index_t set_bandwidths(const py::handle& given, bool has_labels, KernelSums<T>& request) {
  index_t n_axes = 0;
  if (PyFloat_Check(given.ptr())) {
    request.bandwidths = {PyFloat_AsDouble(given.ptr())};
  } else {
    const auto bandwidths = array<double>(given, "bandwidth", 1, 2);
    n_axes = bandwidths.ndim();
    if (bandwidths.size() == 0)
      refuse("bandwidth must be a number or a list of numbers, got shape " + shape_of(bandwidths) + ".");
    if (n_axes == 2 && !(has_labels && bandwidths.shape(1) == request.n_labels))
      refuse("bandwidth of shape " + shape_of(bandwidths) + " has a column for each label: it needs " +
             (has_labels ? "shape (b, " + std::to_string(request.n_labels) + ")." : "labels."));
    request.bandwidths.assign(bandwidths.data(), bandwidths.data() + bandwidths.size());
  }
  for (const double h : request.bandwidths)
    if (!(h > 0 && std::isfinite(h))) refuse("bandwidth must be positive and finite, got " + text(h) + ".");
  request.bandwidths_by_label = n_axes == 2;
  return n_axes;
}

// Checks points with labels 0 ... n_labels - 1, or negative ones, and the weights for calls without weights. With
// `keep`, they are packed for many calls.
py::object given_points(const py::object& points, const py::object& weights, const py::object& labels,
                        const py::object& n_labels, const py::object& keep) {
  return dispatch(points, "X", [&](auto zero) -> py::object {
    using T = decltype(zero);
    GivenPoints<T> given{finite_matrix<T>(points, "X"), {}, {}, 1, {}};
    const index_t n = given.rows();
    if (n == 0) refuse("X must have at least one row.");
    given.labels = integers(labels, "labels", n, no_least, largest_int - 1);
    if (!labels.is_none()) {
      const index_t least = std::max<index_t>(largest(given.labels) + 1, 0);
      const index_t count = n_labels.is_none() ? least : integer(n_labels, "n_labels", 0, largest_int);
      if (count < std::max<index_t>(least, 1))
        refuse("labels go up to " + std::to_string(least - 1) + ", but n_labels=" + std::to_string(count) + ".");
      given.n_labels = static_cast<int>(count);
    } else if (!n_labels.is_none()) {
      refuse("n_labels needs labels, but none are given.");
    }
    if (!weights.is_none()) {
      given.weights = check_weights<T>(weights, n, 1);
      if (given.weights->ndim() == 3)
        refuse("weights must have shape (n,) or (n, c), got " + shape_of(*given.weights) + ".");
    }
    if (truth(keep, "keep"))
      given.cache = functions<T>().pack_points(
          view(given.points), data(given.labels), given.n_labels, given.weights ? given.weights->data() : nullptr,
          given.weights && given.weights->ndim() > 1 ? given.weights->shape(1) : 1);
    return py::cast(std::move(given));
  });
}

Form form_of(const py::handle& output) {
  const std::string name = name_of(output, "output");
  if (name == "plain") return Form::plain;
  if (name == "logs") return Form::logs;
  if (name != "scaled") refuse("output must be 'plain', 'logs' or 'scaled', got '" + name + "'.");
  return Form::scaled;
}

// A request for sums over given points, and the arrays to which it points.
template <class T>
struct Request {
  Array<T> Q;
  std::optional<Array<T>> W;
  KernelSums<T> sums;
  index_t bandwidth_axes;

  Request(const GivenPoints<T>& points, const py::object& queries, const py::object& weights, const py::object& kernel,
          const py::object& bandwidths, const py::object& rtol)
      : Q(finite_matrix<T>(queries, "Q")) {
    check_same_columns(Q.shape(1), points.points.shape(1));
    sums.queries = view(Q);
    sums.points = view(points.points);
    sums.cache = points.cache;
    sums.kernel = kernel_from_name(name_of(kernel, "kernel"));
    sums.labels = data(points.labels);
    sums.n_labels = points.n_labels;
    bandwidth_axes = set_bandwidths(bandwidths, points.labels.has_value(), sums);
    sums.rtol = number(rtol, "rtol", 0);
    W = weights.is_none() ? points.weights : check_weights<T>(weights, points.rows(), sums.n_bandwidths());
    if (!W) return;
    sums.weights = W->data();
    sums.weights_by_bandwidth = W->ndim() == 3;
    sums.n_columns = W->ndim() == 1 ? 1 : W->shape(W->ndim() - 1);
  }
};

// The result has an axis for arrays of bandwidths, for labels, and for weights of more than one axis.
py::object kernel_sums(const py::object& queries, const py::object& points, const py::object& weights,
                       const py::object& kernel, const py::object& bandwidths, const py::object& excluded,
                       const py::object& query_groups, const py::object& point_groups, const py::object& rtol,
                       const py::object& atol, const py::object& output, const py::object& all_pairs,
                       const py::object& n_threads) {
  return with_points(points, [&](const auto& given) -> py::object {
    using T = std::decay_t<decltype(*given.points.data())>;
    Request<T> request(given, queries, weights, kernel, bandwidths, rtol);
    KernelSums<T>& sums = request.sums;
    const index_t m = sums.queries.rows, n = given.rows();
    sums.atol = number(atol, "atol", 0);
    sums.all_pairs = truth(all_pairs, "all_pairs");
    const Form form = form_of(output);
    const Integers left_out = integers(excluded, "exclude_self", m, no_least, n - 1);
    sums.excluded = data(left_out);
    if (query_groups.is_none() != point_groups.is_none()) refuse("exclude_groups must name the groups of Q and of X.");
    const Integers group_of_query = integers(query_groups, "exclude_groups", m, 0, largest_int - 1);
    const Integers group_of_point = integers(point_groups, "exclude_groups", n, 0, largest_int - 1);
    if (group_of_query) {
      sums.query_groups = data(group_of_query);
      sums.point_groups = data(group_of_point);
      sums.n_groups = 1 + static_cast<int>(std::max(largest(group_of_query), largest(group_of_point)));
      sums.cache = nullptr;
      check_memory({sums.n_labels, sums.n_groups}, 4 * sizeof(index_t), "Counting labels x groups");
    }
    const bool within = sums.rtol > 0 || sums.atol > 0;
    if (within && (sums.query_groups || sums.weights_by_bandwidth))
      refuse("rtol and atol cannot be combined with groups or with weights for each bandwidth.");
    if (form != Form::plain && sums.atol > 0) refuse("log takes only rtol, not atol.");
    if (form == Form::logs && any_negative(request.W))
      refuse("Negative weights may have a negative sum, which has no logarithm: use log=\"pair\".");

    std::vector<index_t> cells{m};
    if (request.bandwidth_axes > 0) cells.push_back(sums.n_bandwidths());
    if (given.labels) cells.push_back(sums.n_labels);
    std::vector<index_t> shape = cells;
    if (request.W && request.W->ndim() > 1) shape.push_back(sums.n_columns);
    Array<T> out = allocate<T>(shape, "The sums of queries x bandwidths x labels x columns");
    Array<T> log_scale = allocate<T>(form == Form::scaled ? cells : std::vector<index_t>{0},
                                     "The scales of queries x bandwidths x labels");
    T *to_sums = out.mutable_data(), *to_scale = log_scale.mutable_data();
    const Execution run = execution(n_threads);
    if (m > 0) without_gil([&] { functions<T>().kernel_sums(sums, form, to_scale, to_sums, run); });
    if (form == Form::scaled) return py::make_tuple(log_scale, out);
    return out;
  });
}

// Returns for each query the label that its class sums at one bandwidth determine with certainty by the rule, or -1.
// Returns None if exact sums are predicted to be as fast.
py::object certain_labels(const py::object& queries, const py::object& points, const py::object& kernel,
                          const py::object& bandwidths, const py::object& rtol, const py::object& factors,
                          const py::object& offsets, const py::object& log_share, const py::object& rounding,
                          const py::object& step, const py::object& n_threads) {
  return with_points(points, [&](const auto& given) -> py::object {
    using T = std::decay_t<decltype(*given.points.data())>;
    const Request<T> request(given, queries, py::none(), kernel, bandwidths, rtol);
    const KernelSums<T>& sums = request.sums;
    if (sums.n_bandwidths() != 1) refuse("labels need one bandwidth, or one for each label.");
    if (any_negative(request.W)) refuse("labels need non-negative weights.");
    const auto of_labels = [&](const py::object& values, const char* name) -> std::optional<Array<double>> {
      if (values.is_none()) return std::nullopt;
      return vector<double>(values, name, sums.n_labels);
    };
    const auto scale = vector<double>(factors, "factors", sums.n_labels);
    const auto subtracted = of_labels(offsets, "offsets"), share = of_labels(log_share, "log_share");
    if (share && sums.n_columns < 2) refuse("log_share needs a second column of sums.");
    const LabelRule rule{sums.n_labels,
                         sums.n_columns,
                         scale.data(),
                         subtracted ? subtracted->data() : nullptr,
                         share ? share->data() : nullptr,
                         number(rounding, "rounding", 0),
                         number(step, "step", 0)};
    Array<std::int64_t> labels = allocate<std::int64_t>({sums.queries.rows}, "The labels of queries");
    std::int64_t* out = labels.mutable_data();
    const Execution run = execution(n_threads);
    bool done = false;
    without_gil([&] { done = functions<T>().certain_labels(sums, rule, out, run); });
    if (!done) return py::none();
    return labels;
  });
}

void kernel_matrix(const py::object& queries, const py::object& points, const py::object& kernel,
                   const py::object& bandwidth, const py::object& factor, const py::object& out,
                   const py::object& n_threads) {
  dispatch(queries, "Q", [&](auto zero) {
    using T = decltype(zero);
    const bool symmetric = points.is_none();
    const Array<T> Q = finite_matrix<T>(queries, "Q"), X = symmetric ? Q : finite_matrix<T>(points, "X");
    check_same_columns(Q.shape(1), X.shape(1));
    Array<T> values = output<T>(out, "out", Q.shape(0), X.shape(0));
    const Kernel which = kernel_from_name(name_of(kernel, "kernel"));
    const double h = positive(bandwidth, "bandwidth"), constant = number(factor, "factor");
    T* to = values.mutable_data();
    const Execution run = execution(n_threads);
    if (Q.shape(0) == 0 || X.shape(0) == 0) return;
    without_gil([&] {
      if (symmetric) functions<T>().symmetric_kernel_matrix(view(Q), which, h, constant, to, X.shape(0), run);
      else functions<T>().kernel_matrix(view(Q), view(X), which, h, constant, to, X.shape(0), run);
    });
  });
}

template <class T>
void register_points(py::module_& module, const char* name) {
  py::class_<GivenPoints<T>>(module, name).def_readonly("n_labels", &GivenPoints<T>::n_labels);
}

}  // namespace

void register_kernels(py::module_& module) {
  register_points<float>(module, "Points32");
  register_points<double>(module, "Points64");
  module.def("points", &given_points, py::arg("points"), py::arg("weights"), py::arg("labels"), py::arg("n_labels"),
             py::arg("keep"));
  module.def("kernel_sums", &kernel_sums, py::arg("queries"), py::arg("points"), py::arg("weights"), py::arg("kernel"),
             py::arg("bandwidths"), py::arg("excluded"), py::arg("query_groups"), py::arg("point_groups"),
             py::arg("rtol"), py::arg("atol"), py::arg("output"), py::arg("all_pairs"), py::arg("n_threads"));
  module.def("certain_labels", &certain_labels, py::arg("queries"), py::arg("points"), py::arg("kernel"),
             py::arg("bandwidths"), py::arg("rtol"), py::arg("factors"), py::arg("offsets"), py::arg("log_share"),
             py::arg("rounding"), py::arg("step"), py::arg("n_threads"));
  module.def("kernel_matrix", &kernel_matrix, py::arg("queries"), py::arg("points"), py::arg("kernel"),
             py::arg("bandwidth"), py::arg("factor"), py::arg("out"), py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
