// The table of the variant that this file is compiled for.
#include "isa/functions.hpp"

#include "base/simd.hpp"

namespace spectralcls {
namespace {

template <class T>
constexpr Functions<T> functions() {
  Functions<T> f{};
  f.pack_points = pack_points<T>;
  f.plain_sums = [](const KernelSums<T>& request, T* sums, const Execution& run) { return request.plain(sums, run); };
  f.log_sums = [](const KernelSums<T>& request, T* logs, const Execution& run) { return request.logs(logs, run); };
  f.scaled_sums = [](const KernelSums<T>& request, T* log_scale, T* sums, const Execution& run) {
    return request.scaled(log_scale, sums, run);
  };
  f.kernel_matrix = kernel_matrix<T>;
  f.symmetric_kernel_matrix = symmetric_kernel_matrix<T>;
  f.nearest_neighbors = nearest_neighbors<T>;
  f.reverse_neighbors = reverse_neighbors<T>;
  f.dense_product = dense_product<T>;
  f.csr_product = csr_product<T>;
  f.asymmetry = asymmetry<T>;
  f.tall_products = {inner_product<T>, add_product<T>, product<T>, to_rows<T>, from_rows<T>};
  f.multiply_add_rate = multiply_add_rate<T>;
  return f;
}

constexpr FunctionTable table{
    SPECTRALCLS_INTERFACE,
    SPECTRALCLS_VARIANT,
    SPECTRALCLS_COMPILER,
    SPECTRALCLS_FLAGS,
    vector_bytes,
    functions<float>(),
    functions<double>(),
    [](const ToleranceSums& request, double* sums, const Execution& run) { return request.compute(sums, run); },
};

}  // namespace
}  // namespace spectralcls

extern "C" __attribute__((visibility("default"))) const spectralcls::FunctionTable* spectralcls_function_table() {
  return &spectralcls::table;
}
