// The table of functions of the variant for which this file is compiled.
#include "isa/functions.hpp"

namespace spectralcls {
namespace {

template <class T>
constexpr Functions<T> functions() {
  Functions<T> f{};
  f.pack_points = entry<&pack_points<T>>;
  f.kernel_sums = entry<&planned_sums<T>>;
  f.certain_labels = entry<&planned_labels<T>>;
  f.kernel_matrix = entry<&kernel_matrix<T>>;
  f.symmetric_kernel_matrix = entry<&symmetric_kernel_matrix<T>>;
  f.largest_size = entry<&largest_size<T>>;
  f.index_points = entry<&index_points<T>>;
  f.nearest_neighbors = entry<&nearest_neighbors<T>>;
  f.reverse_neighbors = entry<&reverse_neighbors<T>>;
  f.dense_product = entry<&dense_product<T>>;
  f.csr_product = entry<&csr_product<T>>;
  f.asymmetry = entry<&asymmetry<T>>;
  f.tall_products = {entry<&inner_product<T>>, entry<&add_product<T>>, entry<&product<T>>, entry<&to_rows<T>>,
                     entry<&from_rows<T>>};
  return f;
}

constexpr FunctionTable table{
    SPECTRALCLS_INTERFACE, SPECTRALCLS_VARIANT, SPECTRALCLS_COMPILER,        SPECTRALCLS_FLAGS,
    functions<float>(),    functions<double>(), entry<&conformal_ranks>,     entry<&conformal_weights>,
    entry<&log_odds>,      entry<&sum_trees>,   entry<&detail::set_pruning>,
};

}  // namespace
}  // namespace spectralcls

extern "C" __attribute__((visibility("default"))) const spectralcls::FunctionTable* spectralcls_function_table() {
  return &spectralcls::table;
}
