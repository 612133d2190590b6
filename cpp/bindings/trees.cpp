#include "arguments.hpp"
#include "registrars.hpp"
#include "trees/forest.hpp"

namespace spectralcls::bindings {
namespace {

py::object forest(const py::object& kinds, const py::object& features, const py::object& numbers,
                  const py::object& rights, const py::object& roots, const py::object& levels) {
  const auto kind = array<std::uint8_t>(kinds, "kinds", 1, 1);
  const index_t n = kind.size();
  const auto feature = vector<std::int32_t>(features, "features", n), right = vector<std::int32_t>(rights, "rights", n);
  const auto number = vector<double>(numbers, "numbers", n);
  const auto root = array<std::int32_t>(roots, "roots", 1, 1);
  const auto level = array<bool>(levels, "levels", 2, 2);
  if (level.shape(1) != TreeNodes::n_levels) refuse("levels must have 256 columns, got shape " + shape_of(level) + ".");
  return py::cast(Forest(
      {n, kind.data(), feature.data(), number.data(), right.data(), {root.data(), root.size(), 1}, view(level)}));
}

// Adds the values of the trees to `out` in place.
void tree_sums(const py::object& given, const py::object& queries, const py::object& sums,
               const py::object& n_threads) {
  const auto& trees = kept<Forest>(given, "forest", "a forest");
  const Array<double> X = matrix<double>(queries, "X");
  if (!trees.features.empty() && X.shape(1) <= trees.features.back())
    refuse("X has " + std::to_string(X.shape(1)) + " columns, but the trees use column " +
           std::to_string(trees.features.back()) + " (counted from 0).");
  const index_t n_outputs = matrix<double>(sums, "out").shape(1);
  Array<double> out = output<double>(sums, "out", X.shape(0), n_outputs);
  const MatrixView<double> rows = view(X);
  double* to = out.mutable_data();
  const Execution run = execution(n_threads);
  without_gil([&] { function_table().sum_trees(trees, rows, n_outputs, to, run); });
}

}  // namespace

void register_trees(py::module_& module) {
  py::class_<Forest>(module, "Forest");
  module.def("forest", &forest, py::arg("kinds"), py::arg("features"), py::arg("numbers"), py::arg("rights"),
             py::arg("roots"), py::arg("levels"));
  module.def("tree_sums", &tree_sums, py::arg("forest"), py::arg("X"), py::arg("out"), py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
