#include "arrays.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// The last rows of a C-contiguous (k, n) array become factors @ rows, in place; factors (c, k) in float64.
void combine_rows(py::array rows, const Array<double>& factors, int n_threads) {
  dispatch(rows, [&](auto zero) {
    using T = decltype(zero);
    auto typed = rows.cast<Array<T>>();
    const Panel<T> panel{typed.mutable_data(), typed.shape(1), typed.shape(0)};
    const index_t count = factors.shape(0);
    if (typed.data() != rows.data() || factors.shape(1) != panel.columns || count > panel.columns)
      throw std::invalid_argument("combine_rows takes a C-contiguous array and a column of factors for each of its rows");
    const Execution run = execution(n_threads);
    without_gil([&] { functions<T>().combine_columns(panel, factors.data(), count, run); });
  });
}

}  // namespace

void register_vectors(py::module_& module) { module.def("combine_rows", &combine_rows); }

}  // namespace spectralcls::bindings
