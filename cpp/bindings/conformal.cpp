#include "sums/conformal.hpp"

#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

using Ranks = std::shared_ptr<const ConformalRanks>;
struct RankedPoints {
  index_t n_features, n_classes;
  Ranks ranks;
};

py::object ranked(const py::object& points, const py::object& codes, const py::object& own, const py::object& others,
                  const py::object& weights, const py::object& kernel, const py::object& widths,
                  const py::object& log_factors, const py::object& log_least_sum, const py::object& log_largest_share) {
  const auto X = finite_matrix<double>(points, "X");
  const index_t n = X.shape(0);
  if (n == 0) refuse("X must have at least one row.");
  const auto width = array<double>(widths, "widths", 1, 1);
  const index_t n_classes = width.size();
  const auto factors = vector<double>(log_factors, "log_factors", n_classes);
  for (index_t c = 0; c < n_classes; ++c)
    if (!(width.at(c) > 0 && width.at(c) < std::numeric_limits<double>::infinity())) refuse("widths must be positive.");
  const Integers labels = integers(codes, "codes", n, 0, n_classes - 1);
  const auto sums = vector<double>(own, "own", n), rest = vector<double>(others, "others", n),
             each = vector<double>(weights, "weights", n);
  if (!labels || n_classes == 0) refuse("codes and widths must not be empty.");
  const LeftOutSums given{view(X),
                          labels->data(),
                          sums.data(),
                          rest.data(),
                          each.data(),
                          n_classes,
                          kernel_from_name(name_of(kernel, "kernel")),
                          width.data(),
                          factors.data(),
                          real(log_least_sum, "log_least_sum"),
                          real(log_largest_share, "log_largest_share")};
  return py::cast(RankedPoints{X.shape(1), n_classes, function_table().conformal_ranks(given)});
}

py::object weights_of(const py::object& to, const py::object& queries, const py::object& sums,
                      const py::object& bounded, const py::object& log_weights, const py::object& log_background,
                      const py::object& rounding, const py::object& within, const py::object& beyond,
                      const py::object& n_threads) {
  const auto& points = kept<RankedPoints>(to, "points", "ranked points");
  const auto Q = finite_matrix<double>(queries, "Q");
  const auto columns = array<double>(sums, "sums", 3, 3);
  const index_t m = Q.shape(0), n_classes = points.n_classes;
  if (Q.shape(1) != points.n_features || columns.shape(0) != m || columns.shape(1) != n_classes ||
      columns.shape(2) == 0)
    refuse("Q and sums must have shapes (m, " + std::to_string(points.n_features) + ") and (m, " +
           std::to_string(n_classes) + ", k).");
  const auto each = vector<double>(log_weights, "log_weights", m);
  std::optional<Array<double>> limits;
  if (!beyond.is_none()) limits = vector<double>(beyond, "beyond", n_classes);
  Array<double> out = allocate<double>({m, n_classes}, "Weights of queries x classes");
  const JoiningQueries joining{view(Q),
                               columns.data(),
                               columns.shape(2),
                               truth(bounded, "bounded"),
                               each.data(),
                               real(log_background, "log_background"),
                               number(rounding, "rounding", 0)};
  double* to_weights = out.mutable_data();
  const double* thresholds = limits ? limits->data() : nullptr;
  const bool by_class = truth(within, "within");
  const Execution run = execution(n_threads);
  without_gil(
      [&] { function_table().conformal_weights(*points.ranks, joining, by_class, thresholds, to_weights, run); });
  return out;
}

py::object odds(const py::object& sums, const py::object& log_background, const py::object& rounding) {
  const auto scores = matrix<double>(sums, "sums");
  Array<double> out = allocate<double>({scores.shape(0), scores.shape(1)}, "Odds of queries x classes");
  function_table().log_odds(view(scores), real(log_background, "log_background"), number(rounding, "rounding", 0),
                            out.mutable_data());
  return out;
}

}  // namespace

void register_conformal(py::module_& module) {
  py::class_<RankedPoints>(module, "RankedPoints");
  module.def("ranked_points", &ranked, py::arg("X"), py::arg("codes"), py::arg("own"), py::arg("others"),
             py::arg("weights"), py::arg("kernel"), py::arg("widths"), py::arg("log_factors"), py::arg("log_least_sum"),
             py::arg("log_largest_share"));
  module.def("conformal_weights", &weights_of, py::arg("points"), py::arg("Q"), py::arg("sums"), py::arg("bounded"),
             py::arg("log_weights"), py::arg("log_background"), py::arg("rounding"), py::arg("within"),
             py::arg("beyond"), py::arg("n_threads"));
  module.def("log_odds", &odds, py::arg("sums"), py::arg("log_background"), py::arg("rounding"));
}

}  // namespace spectralcls::bindings
