// Which of the compiled variants this processor can run. Built for the baseline, so it loads anywhere.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

namespace {

std::vector<std::string> supported_variants() {
  std::vector<std::string> variants;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    variants.emplace_back("avx512");
  if (avx2) variants.emplace_back("avx2");
#endif
  variants.emplace_back("baseline");
  return variants;
}

}  // namespace

PYBIND11_MODULE(_cpu_probe, module) {
  module.doc() = "The instruction-set variants that this processor can run, best first.";
  module.def("supported_variants", &supported_variants);
}
