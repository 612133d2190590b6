#include <algorithm>
#include <cmath>

#include "arguments.hpp"
#include "krylov/eigen.hpp"
#include "krylov/kernel_operator.hpp"
#include "points.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

const char* name(EigenStatus status) {
  switch (status) {
    case EigenStatus::converged: return "converged";
    case EigenStatus::not_converged: return "not_converged";
    case EigenStatus::not_symmetric: return "not_symmetric";
    default: return "not_finite";
  }
}

// Checks and returns options[name], a column-major array with n rows.
template <class T>
ColumnMajorArray<T> columns_of(const py::dict& options, const char* name, index_t n) {
  auto vectors = array<T, ColumnMajorArray<T>>(options[name], name, 2, 2);
  if (vectors.shape(0) != n)
    refuse(std::string(name) + " must have " + std::to_string(n) + " rows, got shape " + shape_of(vectors) + ".");
  return vectors;
}

template <class T>
py::dict solve(index_t n, const BlockOperator<T>& apply, const py::dict& given, const Execution& run) {
  const auto start = columns_of<T>(given, "start", n), deflate = columns_of<T>(given, "deflate", n);
  if (deflate.shape(1) >= n)
    refuse("deflate must leave at least one direction of " + std::to_string(n) + ", got shape " + shape_of(deflate) +
           ".");
  const EigenOptions options{at_most(given["pairs"], "k"),
                             at_most(given["block_size"], "block_size"),
                             at_most(given["max_basis"], "max_basis"),
                             at_most(given["max_block_products"], "max_block_products"),
                             number(given["tolerance"], "tol", 0),
                             number(given["norm"], "norm", 0),
                             static_cast<std::uint64_t>(integer(given["seed"], "seed", 0, no_limit))};
  Eigenpairs<T> found;
  without_gil([&] {
    found = top_eigenpairs<T>(n, apply, {start.data(), n, start.shape(1)}, {deflate.data(), n, deflate.shape(1)},
                              options, functions<T>().tall_products, run);
  });
  py::dict out;
  out["values"] = to_array(found.values);
  const auto count = length(found.values);
  Array<T> vectors = allocate<T>({n, count}, "Eigenvectors of rows x pairs");
  std::copy(found.vectors.begin(), found.vectors.end(), vectors.mutable_data());
  out["vectors"] = vectors;
  out["residuals"] = to_array(found.residuals);
  out["n_block_products"] = found.block_products;
  out["n_matvecs"] = found.matvecs;
  out["block_size"] = found.block_size;
  out["status"] = name(found.status);
  return out;
}

template <class T>
Array<T> square(const py::object& given) {
  Array<T> a = matrix<T>(given, "A");
  if (a.shape(0) != a.shape(1)) refuse("A must be square, got shape " + shape_of(a) + ".");
  return a;
}

// The arrays of a CSR matrix. The constructor checks the row starts, and check_columns() the column indices.
template <class T>
class Csr {
 public:
  Csr(const py::object& row_starts, const py::object& indices, const py::object& values)
      : starts_(array<std::int64_t>(row_starts, "the row starts of A", 1, 1)),
        values_(array<T>(values, "the values of A", 1, 1)),
        indices_(vector<std::int32_t>(indices, "the indices of A", values_.shape(0))) {
    const std::int64_t* starts = starts_.data();
    const index_t rows = starts_.shape(0) - 1;
    if (rows < 1 || starts[0] != 0 || starts[rows] != values_.shape(0) || !std::is_sorted(starts, starts + rows + 1))
      refuse("the row starts of A must rise from 0 to the number of its values.");
  }
  void check_columns(index_t columns) const {
    if (indices_.size() == 0) return;
    const auto [low, high] = std::minmax_element(indices_.data(), indices_.data() + indices_.size());
    if (*low < 0 || *high >= columns)
      refuse("the indices of A must be in 0 ... " + std::to_string(columns - 1) + ", got " +
             std::to_string(*low < 0 ? *low : *high) + ".");
  }
  index_t rows() const { return starts_.shape(0) - 1; }
  CsrMatrix<T> view() const { return {starts_.data(), indices_.data(), values_.data(), rows()}; }

 private:
  Array<std::int64_t> starts_;
  Array<T> values_;
  Array<std::int32_t> indices_;
};

py::dict eigen_dense(const py::object& a, const py::dict& options, const py::object& n_threads) {
  return dispatch(a, "A", [&](auto zero) {
    using T = decltype(zero);
    const Array<T> matrix = square<T>(a);
    const index_t n = matrix.shape(0);
    const T* data = matrix.data();
    const Execution run = execution(n_threads);
    return solve<T>(
        n, [&](const T* x, T* y, index_t columns) { functions<T>().dense_product(data, n, x, y, columns, run); },
        options, run);
  });
}

py::dict eigen_csr(const py::object& row_starts, const py::object& indices, const py::object& values,
                   const py::dict& options, const py::object& n_threads) {
  return dispatch(values, "the values of A", [&](auto zero) {
    using T = decltype(zero);
    const Csr<T> a(row_starts, indices, values);
    a.check_columns(a.rows());
    const CsrMatrix<T> matrix = a.view();
    const Execution run = execution(n_threads);
    return solve<T>(
        matrix.rows, [&](const T* x, T* y, index_t columns) { functions<T>().csr_product(matrix, x, y, columns, run); },
        options, run);
  });
}

// Finds the largest eigenpairs of X X^T. Both X and its transpose are given as CSR matrices.
py::dict eigen_gram(const py::object& row_starts, const py::object& indices, const py::object& values,
                    const py::object& transposed_starts, const py::object& transposed_indices,
                    const py::object& transposed_values, const py::dict& options, const py::object& n_threads) {
  return dispatch(values, "the values of A", [&](auto zero) {
    using T = decltype(zero);
    const Csr<T> a(row_starts, indices, values), b(transposed_starts, transposed_indices, transposed_values);
    a.check_columns(b.rows());
    b.check_columns(a.rows());
    const CsrMatrix<T> matrix = a.view(), transposed = b.view();
    const Execution run = execution(n_threads);
    std::vector<T> between;
    return solve<T>(
        matrix.rows,
        [&](const T* x, T* y, index_t columns) {
          between.resize(transposed.rows * columns);
          functions<T>().csr_product(transposed, x, between.data(), columns, run);
          functions<T>().csr_product(matrix, between.data(), y, columns, run);
        },
        options, run);
  });
}

// Finds the largest eigenpairs of S K S. K is the kernel matrix of packed points and S is diagonal; `scale` holds the
// diagonal, (n,), or is None for ones. `bandwidths` and `factors`, both (n_labels, n_labels), hold the bandwidth and
// the factor of the kernel between the points of each pair of labels. The matrix-vector products run on product_threads
// threads, everything else on n_threads.
py::dict eigen_kernel(const py::object& points, const py::object& kernel, const py::object& bandwidths,
                      const py::object& factors, const py::object& scale, const py::object& product_threads,
                      const py::dict& options, const py::object& n_threads) {
  return with_points(points, [&](const auto& kept) {
    using T = std::decay_t<decltype(*kept.points.data())>;
    const index_t n = kept.rows(), n_pairs = index_t{kept.n_labels} * kept.n_labels;
    KernelOperator<T> a;
    a.points = view(kept.points);
    a.cache = kept.cache;
    a.labels = data(kept.labels);
    a.n_labels = kept.n_labels;
    if (a.n_labels > 1 && (!a.labels || *std::min_element(a.labels, a.labels + n) < 0))
      refuse("labels must name a label of 0 ... " + std::to_string(a.n_labels - 1) + " for each row.");
    a.kernel = kernel_from_name(name_of(kernel, "kernel"));
    const auto h = array<double>(bandwidths, "bandwidth", 2, 2);
    const auto f = array<T>(factors, "factors", 2, 2);
    if (h.size() != n_pairs || f.size() != n_pairs || h.shape(0) != kept.n_labels || f.shape(0) != kept.n_labels)
      refuse("bandwidth and factors must have a row and a column for each of the " + std::to_string(kept.n_labels) +
             " labels.");
    for (index_t i = 0; i < n_pairs; ++i)
      if (!(h.data()[i] > 0 && std::isfinite(h.data()[i])))
        refuse("bandwidth must be positive and finite, got " + text(h.data()[i]) + ".");
    a.bandwidths.assign(h.data(), h.data() + n_pairs);
    a.factors.assign(f.data(), f.data() + n_pairs);
    std::optional<Array<T>> diagonal;
    if (!scale.is_none()) diagonal = vector<T>(scale, "scale", n);
    a.scale = diagonal ? diagonal->data() : nullptr;
    a.plain_sums = [](const KernelSums<T>& request, T* sums, const Execution& run) {
      KernelSums<T> products = request;
      products.all_pairs = true;
      functions<T>().kernel_sums(products, Form::plain, nullptr, sums, run);
    };
    return solve<T>(n, a.products(execution(product_threads)), options, execution(n_threads));
  });
}

// Finds the largest eigenpairs of an operator that is given as a Python function. apply(x) maps an array (n, columns)
// to an array of the same shape. Both have the dtype of options["start"].
py::dict eigen_callback(const py::object& n_rows, const py::function& apply, const py::dict& options,
                        const py::object& n_threads) {
  return dispatch(options["start"], "start", [&](auto zero) {
    using T = decltype(zero);
    const index_t n = integer(n_rows, "the order of A", 1, no_limit);
    return solve<T>(
        n,
        [&](const T* x, T* y, index_t columns) {
          py::gil_scoped_acquire gil;
          Array<T> block(std::vector<py::ssize_t>{n, columns});
          std::copy(x, x + n * columns, block.mutable_data());
          const auto answer = array<T>(apply(block), "the operator's answer", 2, 2);
          if (answer.shape(0) != n || answer.shape(1) != columns)
            refuse("the operator's answer has shape " + shape_of(answer) + ", its argument " + shape_of(block) + ".");
          std::copy(answer.data(), answer.data() + n * columns, y);
        },
        options, execution(n_threads));
  });
}

std::pair<double, double> dense_asymmetry(const py::object& a, const py::object& n_threads) {
  return dispatch(a, "A", [&](auto zero) {
    using T = decltype(zero);
    const Array<T> matrix = square<T>(a);
    const Execution run = execution(n_threads);
    std::pair<double, double> result;
    without_gil([&] { result = functions<T>().asymmetry(matrix.data(), matrix.shape(0), run); });
    return result;
  });
}

}  // namespace

void register_eigen(py::module_& module) {
  module.def("eigen_dense", &eigen_dense, py::arg("A"), py::arg("options"), py::arg("n_threads"));
  module.def("eigen_csr", &eigen_csr, py::arg("row_starts"), py::arg("indices"), py::arg("values"), py::arg("options"),
             py::arg("n_threads"));
  module.def("eigen_gram", &eigen_gram, py::arg("row_starts"), py::arg("indices"), py::arg("values"),
             py::arg("transposed_starts"), py::arg("transposed_indices"), py::arg("transposed_values"),
             py::arg("options"), py::arg("n_threads"));
  module.def("eigen_kernel", &eigen_kernel, py::arg("points"), py::arg("kernel"), py::arg("bandwidths"),
             py::arg("factors"), py::arg("scale"), py::arg("product_threads"), py::arg("options"),
             py::arg("n_threads"));
  module.def("eigen_callback", &eigen_callback, py::arg("n"), py::arg("apply"), py::arg("options"),
             py::arg("n_threads"));
  module.def("asymmetry", &dense_asymmetry, py::arg("A"), py::arg("n_threads"));
}

}  // namespace spectralcls::bindings
