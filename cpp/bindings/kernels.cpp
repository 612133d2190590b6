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
    refuse("Q has " + std::to_string(queries) + " features, but X has " + std::to_string(points) + ".");
}

// Checks and returns weights: (n, c) for c columns of sums, or (n, n_bandwidths, c) with separate weights for each
// bandwidth.
template <class T>
Array<T> check_weights(const py::handle& given, index_t n, index_t n_bandwidths) {
  auto weights = array<T>(given, "weights", 2, 3);
  const bool by_bandwidth = weights.ndim() == 3;
  if (weights.shape(0) != n || (by_bandwidth && weights.shape(1) != n_bandwidths))
    refuse("weights must have shape (" + std::to_string(n) + ", c) or (" + std::to_string(n) + ", " +
           std::to_string(n_bandwidths) + ", c), got " + shape_of(weights) + ".");
  if (weights.shape(weights.ndim() - 1) == 0)
    refuse("weights must have at least one column, got shape " + shape_of(weights) + ".");
  return weights;
}

// Checks and returns b bandwidths: (b,), or (b, n_labels) with separate bandwidths for each label. All must be positive
// and finite.
Array<double> check_bandwidths(const py::handle& given, int n_labels) {
  const auto bandwidths = array<double>(given, "bandwidth", 1, 2);
  if (bandwidths.size() == 0 || (bandwidths.ndim() == 2 && bandwidths.shape(1) != n_labels))
    refuse("bandwidth must have shape (b,) or (b, " + std::to_string(n_labels) + "), got " + shape_of(bandwidths) +
           ".");
  for (index_t i = 0; i < bandwidths.size(); ++i)
    if (const double h = bandwidths.data()[i]; !(h > 0 && std::isfinite(h)))
      refuse("bandwidth must be positive and finite, got " + text(h) + ".");
  return bandwidths;
}

// Computes the sums of a complete request and returns them in the form `output`.
template <class T>
py::object computed(const KernelSums<T>& request, const py::handle& output, const py::handle& n_threads) {
  const std::string form = name_of(output, "output");
  if (form != "plain" && form != "log" && form != "bounded" && form != "scaled")
    refuse("output must be 'plain', 'log', 'bounded' or 'scaled', got '" + form + "'.");
  check_memory({request.n_labels, request.n_groups}, 4 * sizeof(index_t), "Counting labels x groups");
  const std::vector<index_t> cells{request.queries.rows, request.n_bandwidths(), request.n_labels};
  std::vector<index_t> shape = cells;
  shape.push_back(request.n_columns);
  Array<T> sums = allocate<T>(shape, "The sums of queries x bandwidths x labels x columns");
  T* out = sums.mutable_data();
  const Execution run = execution(n_threads);
  bool uses_tolerance = false;
  if (form == "scaled" || form == "bounded") {
    Array<T> log_scale = allocate<T>(cells, "The scales of queries x bandwidths x labels");
    T* scale = log_scale.mutable_data();
    if (request.queries.rows > 0)
      without_gil([&] { uses_tolerance = functions<T>().scaled_sums(request, scale, out, run); });
    if (form == "scaled") return py::make_tuple(log_scale, sums);
    return py::make_tuple(log_scale, sums, uses_tolerance);
  }
  const auto sum = form == "plain" ? functions<T>().plain_sums : functions<T>().log_sums;
  if (request.queries.rows > 0) without_gil([&] { sum(request, out, run); });
  return sums;
}

template <class T>
py::object sums_over(const GivenPoints<T>& points, const py::object& queries, const py::object& weights,
                     const py::object& kernel, const py::object& bandwidths, const py::object& excluded,
                     const py::object& query_groups, const py::object& point_groups, const py::object& n_groups,
                     const py::object& rtol, const py::object& output, const py::object& n_threads,
                     const py::object& in_order) {
  const Array<T> Q = matrix<T>(queries, "Q");
  check_same_columns(Q.shape(1), points.points.shape(1));
  KernelSums<T> request;
  request.queries = view(Q);
  request.points = view(points.points);
  request.cache = points.cache;
  request.kernel = kernel_from_name(name_of(kernel, "kernel"));
  request.labels = data(points.labels);
  request.n_labels = points.n_labels;
  const Array<double> h = check_bandwidths(bandwidths, points.n_labels);
  request.bandwidths.assign(h.data(), h.data() + h.size());
  request.bandwidths_by_label = h.ndim() == 2;
  request.rtol = number(rtol, "rtol", 0);
  request.in_order = truth(in_order, "in_order");
  std::optional<Array<T>> W = points.weights;
  if (!weights.is_none()) W = check_weights<T>(weights, points.rows(), h.shape(0));
  if (W) {
    request.weights = W->data();
    request.weights_by_bandwidth = W->ndim() == 3;
    request.n_columns = W->shape(W->ndim() - 1);
  }
  const Integers left_out = integers(excluded, "exclude_self", Q.shape(0), no_least, points.rows() - 1);
  request.excluded = data(left_out);
  request.n_groups = static_cast<int>(integer(n_groups, "the number of groups", 1, largest_int));
  if (query_groups.is_none() != point_groups.is_none()) refuse("exclude_groups must name the groups of Q and of X.");
  const Integers group_of_query = integers(query_groups, "exclude_groups", Q.shape(0), 0, request.n_groups - 1);
  const Integers group_of_point = integers(point_groups, "exclude_groups", points.rows(), 0, request.n_groups - 1);
  request.query_groups = data(group_of_query);
  request.point_groups = data(group_of_point);
  return computed(request, output, n_threads);
}

py::object kernel_sums(const py::object& queries, const py::object& points, const py::object& weights,
                       const py::object& labels, const py::object& n_labels, const py::object& kernel,
                       const py::object& bandwidths, const py::object& excluded, const py::object& query_groups,
                       const py::object& point_groups, const py::object& n_groups, const py::object& rtol,
                       const py::object& output, const py::object& n_threads, const py::object& in_order) {
  return dispatch(points, "X", [&](auto zero) -> py::object {
    using T = decltype(zero);
    return sums_over(GivenPoints<T>(points, labels, n_labels), queries, weights, kernel, bandwidths, excluded,
                     query_groups, point_groups, n_groups, rtol, output, n_threads, in_order);
  });
}

py::object pack_points(const py::object& points, const py::object& weights, const py::object& labels,
                       const py::object& n_labels, const py::object& n_threads) {
  return dispatch(points, "X", [&](auto zero) -> py::object {
    using T = decltype(zero);
    GivenPoints<T> kept(points, labels, n_labels);
    index_t n_columns = 1;
    if (!weights.is_none()) {
      kept.weights = check_weights<T>(weights, kept.rows(), 1);
      if (kept.weights->ndim() != 2) refuse("weights must have shape (n, c), got " + shape_of(*kept.weights) + ".");
      n_columns = kept.weights->shape(1);
    }
    const T* columns = kept.weights ? kept.weights->data() : nullptr;
    const Execution run = execution(n_threads);
    without_gil([&] {
      kept.cache =
          functions<T>().pack_points(view(kept.points), data(kept.labels), kept.n_labels, columns, n_columns, run);
    });
    return py::cast(std::move(kept));
  });
}

// Computes sums over packed points. `weights`, unless None, replace the weights with which the points were packed.
py::object packed_kernel_sums(const py::object& queries, const py::object& points, const py::object& weights,
                              const py::object& kernel, const py::object& bandwidths, const py::object& excluded,
                              const py::object& rtol, const py::object& output, const py::object& n_threads,
                              const py::object& in_order) {
  return with_points(points, [&](const auto& kept) {
    return sums_over(kept, queries, weights, kernel, bandwidths, excluded, py::none(), py::none(), py::int_(1), rtol,
                     output, n_threads, in_order);
  });
}

void kernel_matrix(const py::object& queries, const py::object& points, const py::object& kernel,
                   const py::object& bandwidth, const py::object& factor, const py::object& out,
                   const py::object& n_threads) {
  dispatch(queries, "Q", [&](auto zero) {
    using T = decltype(zero);
    const Array<T> Q = matrix<T>(queries, "Q");
    const bool symmetric = points.is_none();
    const Array<T> X = symmetric ? Q : matrix<T>(points, "X");
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

// The request that approximate_sums() and grid_labels() build from the arguments they share, and the arrays to which
// the request points.
struct GridRequest {
  Array<double> Q, X;
  std::optional<Array<double>> W;
  Integers labels;
  ApproximateSums request;

  GridRequest(const py::object& queries, const py::object& points, const py::object& weights,
              const py::object& label_of, const py::object& n_labels, const py::object& bandwidth,
              const py::object& rtol, const py::object& single_precision)
      : Q(matrix<double>(queries, "Q")), X(matrix<double>(points, "X")) {
    const index_t n = X.shape(0);
    check_same_columns(Q.shape(1), X.shape(1));
    request.queries = view(Q);
    request.points = view(X);
    if (!weights.is_none()) {
      W = check_weights<double>(weights, n, 1);
      if (W->ndim() != 2) refuse("weights must have shape (" + std::to_string(n) + ", c), got " + shape_of(*W) + ".");
      request.weights = W->data();
      request.n_columns = W->shape(1);
    }
    request.n_labels = static_cast<int>(integer(n_labels, "n_labels", 1, largest_int));
    labels = integers(label_of, "labels", n, no_least, request.n_labels - 1);
    request.labels = data(labels);
    request.bandwidth = positive(bandwidth, "bandwidth");
    request.rtol = number(rtol, "rtol", 0);
    request.single_precision = truth(single_precision, "single_precision");
  }
};

// Returns Gaussian sums computed on a grid; a mark for each query and label, which says whether its sums are within the
// tolerance; and the queries in an order in which successive ones lie close together. Returns None if exact sums are
// predicted to be as fast.
py::object approximate_sums(const py::object& queries, const py::object& points, const py::object& weights,
                            const py::object& labels, const py::object& n_labels, const py::object& bandwidth,
                            const py::object& excluded, const py::object& rtol, const py::object& atol,
                            const py::object& each_label, const py::object& single_precision,
                            const py::object& exact_passes, const py::object& n_threads) {
  GridRequest given(queries, points, weights, labels, n_labels, bandwidth, rtol, single_precision);
  ApproximateSums& request = given.request;
  const index_t m = request.queries.rows;
  const Integers left_out = integers(excluded, "exclude_self", m, no_least, request.points.rows - 1);
  request.excluded = data(left_out);
  request.atol = number(atol, "atol", 0);
  request.each_label = truth(each_label, "each_label");
  request.exact_passes = positive(exact_passes, "exact_passes");

  Array<double> sums =
      allocate<double>({m, request.n_labels, request.n_columns}, "The sums of queries x labels x columns");
  Array<std::uint8_t> settled = allocate<std::uint8_t>({m, request.n_labels}, "A mark for queries x labels");
  Array<std::int64_t> order = allocate<std::int64_t>({m}, "An order of the queries");
  double* out = sums.mutable_data();
  std::uint8_t* marks = settled.mutable_data();
  std::int64_t* places = order.mutable_data();
  const Execution run = execution(n_threads);
  bool done = false;
  without_gil([&] { done = function_table().approximate_sums(request, out, marks, places, run); });
  if (!done) return py::none();
  return py::make_tuple(sums, settled, order);
}

// The rule that derives labels from class sums, and the arrays to which the rule points.
struct GivenRule {
  Array<double> log_scale;
  std::optional<Array<double>> offsets, log_share;
  LabelRule rule;

  GivenRule(int n_labels, index_t n_columns, const py::object& scale, const py::object& subtracted,
            const py::object& share, const py::object& rounding, const py::object& step)
      : log_scale(vector<double>(scale, "log_scale", n_labels)) {
    rule.n_labels = n_labels;
    rule.n_columns = n_columns;
    rule.log_scale = log_scale.data();
    if (!subtracted.is_none()) rule.offsets = (offsets = vector<double>(subtracted, "offsets", n_labels))->data();
    if (!share.is_none()) {
      if (n_columns < 2) refuse("log_share needs a second column of sums.");
      rule.log_share = (log_share = vector<double>(share, "log_share", n_labels))->data();
    }
    rule.rounding = number(rounding, "rounding", 0);
    rule.step = number(step, "step", 0);
  }
};

// Returns for each query the label that its class sums determine with certainty, or -1 if there is none.
py::object certain_labels(const py::object& log_scale, const py::object& sums, const py::object& missing,
                          const py::object& factors, const py::object& offsets, const py::object& log_share,
                          const py::object& rounding, const py::object& step) {
  return dispatch(sums, "sums", [&](auto zero) -> py::object {
    using T = decltype(zero);
    const auto values = array<T>(sums, "sums", 3, 3);
    const index_t m = values.shape(0), n_labels = values.shape(1), n_columns = values.shape(2);
    if (n_labels == 0 || n_columns == 0) refuse("sums must have a label and a column, got " + shape_of(values) + ".");
    const auto scale = array<T>(log_scale, "log_scale", 2, 2);
    const auto left_out = array<double>(missing, "missing", 2, 2);
    if (scale.shape(0) != m || scale.shape(1) != n_labels)
      refuse("log_scale must have a row for each query and a column for each label, got " + shape_of(scale) + ".");
    if (left_out.shape(0) != n_labels || left_out.shape(1) != n_columns)
      refuse("missing must have a row for each label and a column for each column of sums, got " + shape_of(left_out) +
             ".");
    const GivenRule given(static_cast<int>(n_labels), n_columns, factors, offsets, log_share, rounding, step);
    Array<std::int64_t> labels = allocate<std::int64_t>({m}, "The labels of queries");
    std::int64_t* out = labels.mutable_data();
    without_gil(
        [&] { functions<T>().certain_labels({m, scale.data(), values.data(), left_out.data()}, given.rule, out); });
    return labels;
  });
}

// Returns for each query the label that Gaussian sums on a grid determine with certainty, or -1 if there is none.
// Returns None if exact sums are predicted to be as fast.
py::object grid_labels(const py::object& queries, const py::object& points, const py::object& weights,
                       const py::object& label_of, const py::object& n_labels, const py::object& bandwidth,
                       const py::object& rtol, const py::object& single_precision, const py::object& factors,
                       const py::object& offsets, const py::object& log_share, const py::object& rounding,
                       const py::object& step, const py::object& n_threads) {
  const GridRequest given(queries, points, weights, label_of, n_labels, bandwidth, rtol, single_precision);
  const ApproximateSums& request = given.request;
  const GivenRule by(request.n_labels, request.n_columns, factors, offsets, log_share, rounding, step);
  Array<std::int64_t> labels = allocate<std::int64_t>({request.queries.rows}, "The labels of queries");
  std::int64_t* out = labels.mutable_data();
  const Execution run = execution(n_threads);
  bool done = false;
  without_gil([&] { done = function_table().grid_labels(request, by.rule, out, run); });
  if (!done) return py::none();
  return labels;
}

}  // namespace

void register_kernels(py::module_& module) {
  module.def("kernel_sums", &kernel_sums, py::arg("queries"), py::arg("points"), py::arg("weights"), py::arg("labels"),
             py::arg("n_labels"), py::arg("kernel"), py::arg("bandwidths"), py::arg("excluded"),
             py::arg("query_groups"), py::arg("point_groups"), py::arg("n_groups"), py::arg("rtol"), py::arg("output"),
             py::arg("n_threads"), py::arg("in_order") = false);
  py::class_<GivenPoints<float>>(module, "PackedPoints32");
  py::class_<GivenPoints<double>>(module, "PackedPoints64");
  module.def("pack_points", &pack_points, py::arg("points"), py::arg("weights"), py::arg("labels"), py::arg("n_labels"),
             py::arg("n_threads"));
  module.def("packed_kernel_sums", &packed_kernel_sums, py::arg("queries"), py::arg("points"), py::arg("weights"),
             py::arg("kernel"), py::arg("bandwidths"), py::arg("excluded"), py::arg("rtol"), py::arg("output"),
             py::arg("n_threads"), py::arg("in_order") = false);
  module.def("kernel_matrix", &kernel_matrix, py::arg("queries"), py::arg("points"), py::arg("kernel"),
             py::arg("bandwidth"), py::arg("factor"), py::arg("out"), py::arg("n_threads"));
  module.def("approximate_sums", &approximate_sums, py::arg("queries"), py::arg("points"), py::arg("weights"),
             py::arg("labels"), py::arg("n_labels"), py::arg("bandwidth"), py::arg("excluded"), py::arg("rtol"),
             py::arg("atol"), py::arg("each_label"), py::arg("single_precision"), py::arg("exact_passes"),
             py::arg("n_threads"));
  module.def("certain_labels", &certain_labels, py::arg("log_scale"), py::arg("sums"), py::arg("missing"),
             py::arg("factors"), py::arg("offsets"), py::arg("log_share"), py::arg("rounding"), py::arg("step"));
  module.def("grid_labels", &grid_labels, py::arg("queries"), py::arg("points"), py::arg("weights"), py::arg("labels"),
             py::arg("n_labels"), py::arg("bandwidth"), py::arg("rtol"), py::arg("single_precision"),
             py::arg("factors"), py::arg("offsets"), py::arg("log_share"), py::arg("rounding"), py::arg("step"),
             py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
