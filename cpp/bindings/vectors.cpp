// Small linear algebra: linear combinations of rows, and the LAPACK routines that the eigensolver uses.
#include <cstring>

#include "arguments.hpp"
#include "krylov/lapack.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// Replaces the last c rows of `rows`, a C-contiguous array (k, n), by factors @ rows. `factors` is a float64 array (c,
// k).
void combine_rows(const py::object& rows, const py::object& factors, const py::object& n_threads) {
  dispatch(rows, "rows", [&](auto zero) {
    using T = decltype(zero);
    const Array<double> left = matrix<double>(factors, "factors");
    const py::array shape = py::reinterpret_borrow<py::array>(rows);
    if (shape.ndim() != 2) refuse("rows must have 2 dimensions, got shape " + shape_of(shape) + ".");
    Array<T> typed = output<T>(rows, "rows", shape.shape(0), shape.shape(1));
    const Multivector<T> vectors{typed.mutable_data(), typed.shape(1), typed.shape(0)};
    const index_t count = left.shape(0);
    if (left.shape(1) != vectors.columns || count > vectors.columns)
      refuse("factors must have a column for each of the " + std::to_string(vectors.columns) +
             " rows, and at most as many rows, got shape " + shape_of(left) + ".");
    const std::vector<T> coefficients(left.data(), left.data() + left.size());
    const Execution run = execution(n_threads);
    without_gil([&] {
      functions<T>().tall_products.product({vectors.data, vectors.rows, vectors.columns}, coefficients.data(),
                                           vectors.middle(vectors.columns - count, count), run);
    });
  });
}

void set_lapack(const py::capsule& routines) {
  if (std::strcmp(routines.name() ? routines.name() : "", lapack_capsule) != 0)
    refuse("routines must be a capsule of LAPACK routines.");
  use_lapack(*routines.get_pointer<Lapack>());
}

}  // namespace

void register_vectors(py::module_& module) {
  module.def("combine_rows", &combine_rows, py::arg("rows"), py::arg("factors"), py::arg("n_threads"));
  module.def("use_lapack", &set_lapack, py::arg("routines"));
}

}  // namespace spectralcls::bindings
