#include <algorithm>

#include "arrays.hpp"
#include "krylov/eigen.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

// Column-major arrays are not copied.
template <class T>
using Columns = py::array_t<T, py::array::f_style>;

const char* name(EigenStatus status) {
  switch (status) {
    case EigenStatus::converged: return "converged";
    case EigenStatus::not_converged: return "not_converged";
    case EigenStatus::not_symmetric: return "not_symmetric";
    default: return "not_finite";
  }
}

template <class T>
py::dict solve(index_t n, const BlockOperator<T>& apply, const py::dict& given, int n_threads) {
  const auto start = given["start"].cast<Columns<T>>(), deflate = given["deflate"].cast<Columns<T>>();
  const EigenOptions options{given["pairs"].cast<index_t>(),     given["block_size"].cast<index_t>(),
                             given["max_basis"].cast<index_t>(), given["max_applications"].cast<index_t>(),
                             given["tolerance"].cast<double>(), given["norm"].cast<double>(),
                             given["seed"].cast<std::uint64_t>()};
  const Execution run = execution(n_threads);
  Eigenpairs<T> found;
  without_gil([&] {
    found = top_eigenpairs<T>(n, apply, {start.data(), n, start.shape(1)}, {deflate.data(), n, deflate.shape(1)}, options,
                              functions<T>().tall_products, run);
  });
  const auto count = static_cast<py::ssize_t>(found.values.size());
  py::array_t<double> values(count), residuals(count);
  Array<T> vectors(std::vector<py::ssize_t>{n, count});
  std::copy(found.values.begin(), found.values.end(), values.mutable_data());
  if (count) std::copy(found.residuals.begin(), found.residuals.end(), residuals.mutable_data());
  std::copy(found.vectors.begin(), found.vectors.end(), vectors.mutable_data());
  py::dict out;
  out["values"] = values;
  out["vectors"] = vectors;
  out["residuals"] = residuals;
  out["n_applications"] = found.applications;
  out["n_products"] = found.products;
  out["block_size"] = found.block_size;
  out["status"] = name(found.status);
  return out;
}

template <class T>
CsrMatrix<T> csr(const Array<std::int64_t>& row_starts, const Array<std::int32_t>& indices, const Array<T>& values) {
  return {row_starts.data(), indices.data(), values.data(), row_starts.shape(0) - 1};
}

py::dict eigen_dense(const py::array& a, const py::dict& options, int n_threads) {
  return dispatch(a, [&](auto zero) {
    using T = decltype(zero);
    const auto matrix = a.cast<Array<T>>();
    const index_t n = matrix.shape(0);
    const T* data = matrix.data();
    const Execution run = execution(n_threads);
    return solve<T>(n, [=](const T* x, T* y, index_t columns) { functions<T>().dense_product(data, n, x, y, columns, run); },
                    options, n_threads);
  });
}

py::dict eigen_csr(const Array<std::int64_t>& row_starts, const Array<std::int32_t>& indices, const py::array& values,
                   const py::dict& options, int n_threads) {
  return dispatch(values, [&](auto zero) {
    using T = decltype(zero);
    const auto typed = values.cast<Array<T>>();
    const auto matrix = csr<T>(row_starts, indices, typed);
    const Execution run = execution(n_threads);
    return solve<T>(matrix.rows,
                    [=](const T* x, T* y, index_t columns) { functions<T>().csr_product(matrix, x, y, columns, run); }, options,
                    n_threads);
  });
}

// X X^T, X given by rows and X^T by rows.
py::dict eigen_gram(const Array<std::int64_t>& row_starts, const Array<std::int32_t>& indices, const py::array& values,
                    const Array<std::int64_t>& transposed_starts, const Array<std::int32_t>& transposed_indices,
                    const py::array& transposed_values, const py::dict& options, int n_threads) {
  return dispatch(values, [&](auto zero) {
    using T = decltype(zero);
    const auto typed = values.cast<Array<T>>();
    const auto transposed_typed = transposed_values.cast<Array<T>>();
    const auto matrix = csr<T>(row_starts, indices, typed);
    const auto transposed = csr<T>(transposed_starts, transposed_indices, transposed_typed);
    const Execution run = execution(n_threads);
    std::vector<T> between;
    return solve<T>(matrix.rows,
                    [&](const T* x, T* y, index_t columns) {
                      between.resize(static_cast<std::size_t>(transposed.rows * columns));
                      functions<T>().csr_product(transposed, x, between.data(), columns, run);
                      functions<T>().csr_product(matrix, between.data(), y, columns, run);
                    },
                    options, n_threads);
  });
}

// `apply(x)` takes an (n, columns) array and gives one of the same shape; the dtype is that of options["start"].
py::dict eigen_callback(index_t n, const py::function& apply, const py::dict& options, int n_threads) {
  return dispatch(options["start"].cast<py::array>(), [&](auto zero) {
    using T = decltype(zero);
    return solve<T>(n,
                    [&](const T* x, T* y, index_t columns) {
                      py::gil_scoped_acquire gil;
                      Array<T> block(std::vector<py::ssize_t>{n, columns});
                      std::copy(x, x + n * columns, block.mutable_data());
                      const auto answer = apply(block).template cast<Array<T>>();
                      if (answer.ndim() != 2 || answer.shape(0) != n || answer.shape(1) != columns)
                        throw std::invalid_argument("the operator's answer has another shape than its argument");
                      std::copy(answer.data(), answer.data() + n * columns, y);
                    },
                    options, n_threads);
  });
}

std::pair<double, double> dense_asymmetry(const py::array& a, int n_threads) {
  return dispatch(a, [&](auto zero) {
    using T = decltype(zero);
    const auto matrix = a.cast<Array<T>>();
    const Execution run = execution(n_threads);
    std::pair<double, double> result;
    without_gil([&] { result = functions<T>().asymmetry(matrix.data(), static_cast<index_t>(matrix.shape(0)), run); });
    return result;
  });
}

}  // namespace

void register_eigen(py::module_& module) {
  module.def("eigen_dense", &eigen_dense);
  module.def("eigen_csr", &eigen_csr);
  module.def("eigen_gram", &eigen_gram);
  module.def("eigen_callback", &eigen_callback);
  module.def("asymmetry", &dense_asymmetry);
}

}  // namespace spectralcls::bindings
