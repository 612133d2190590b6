#include "spectralcls/panel.hpp"

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
    const Eigen::Map<const Matrix> coefficients(factors.data(), factors.shape(1), factors.shape(0));
    if (typed.data() != rows.data() || coefficients.rows() != panel.columns || coefficients.cols() > panel.columns)
      throw std::invalid_argument("combine_rows takes a C-contiguous array and a column of factors for each of its rows");
    const Panel<T> last = panel.middle(panel.columns - coefficients.cols(), coefficients.cols());
    const Execution run = execution(n_threads);
    without_gil([&] { transform<T>(panel, coefficients, last, run); });
  });
}

}  // namespace

void register_panel(py::module_& module) { module.def("combine_rows", &combine_rows); }

}  // namespace spectralcls::bindings
