#include "geometry/equal_rows.hpp"

#include "arguments.hpp"
#include "registrars.hpp"

namespace spectralcls::bindings {
namespace {

py::tuple equal(const py::object& rows) {
  return dispatch(rows, "rows", [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const Array<T> checked = array<T>(rows, "rows", 2, 2);
    Array<std::int64_t> group = allocate<std::int64_t>({checked.shape(0)}, "Numbers of rows");
    std::int64_t* numbers = group.mutable_data();
    const MatrixView<T> matrix = view(checked);
    const Execution run = execution(py::int_(1));
    std::vector<std::int64_t> first;
    without_gil([&] { first = equal_rows(matrix, numbers, run); });
    return py::make_tuple(to_array(first), group);
  });
}

}  // namespace

void register_equal_rows(py::module_& module) { module.def("equal_rows", &equal, py::arg("rows")); }

}  // namespace spectralcls::bindings
