// Small linear algebra: in-place combinations of rows, and the LAPACK that the eigensolver uses.
#include <cstring>

#include "arrays.hpp"
#include "krylov/lapack.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// The last rows of a C-contiguous (k, n) array become factors @ rows, in place; factors (c, k) in float64.
void combine_rows(py::array rows, const Array<double>& factors, int n_threads) {
  dispatch(rows, [&](auto zero) {
    using T = decltype(zero);
    auto typed = rows.cast<Array<T>>();
    const Multivector<T> vectors{typed.mutable_data(), typed.shape(1), typed.shape(0)};
    const index_t count = factors.shape(0);
    if (typed.data() != rows.data() || factors.shape(1) != vectors.columns || count > vectors.columns)
      throw std::invalid_argument("combine_rows takes a C-contiguous array and a column of factors for each of its rows");
    const std::vector<T> coefficients(factors.data(), factors.data() + factors.size());
    const Execution run = execution(n_threads);
    without_gil([&] {
      functions<T>().tall_products.product({vectors.data, vectors.rows, vectors.columns}, coefficients.data(),
                                           vectors.middle(vectors.columns - count, count), run);
    });
  });
}

}  // namespace

void register_vectors(py::module_& module) {
  module.def("combine_rows", &combine_rows, py::arg("rows"), py::arg("factors"), py::arg("n_threads"));
  module.def("use_lapack", [](const py::capsule& routines) {
    if (std::strcmp(routines.name() ? routines.name() : "", lapack_capsule) != 0) throw std::invalid_argument("not a capsule of LAPACK routines");
    use_lapack(*routines.get_pointer<Lapack>());
  }, py::arg("routines"));
}

}  // namespace spectralcls::bindings
