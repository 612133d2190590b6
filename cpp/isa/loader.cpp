#include "isa/loader.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>

namespace spectralcls {
namespace {

const FunctionTable* loaded = nullptr;

}  // namespace

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

void load_variant(const std::string& path) {
  if (loaded) throw std::runtime_error(std::string("the variant '") + loaded->variant + "' is loaded already");
  // RTLD_LOCAL: templates of the standard library compiled for this instruction set stay inside.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  const auto get = reinterpret_cast<GetFunctionTable>(dlsym(library, function_table_symbol));
  const FunctionTable* table = get ? get() : nullptr;
  if (!table || std::strcmp(table->interface, SPECTRALCLS_INTERFACE) != 0)
    throw std::runtime_error(path + " was built from other sources than the bindings: build and install both again");
  loaded = table;
}

const FunctionTable& function_table() {
  if (!loaded) throw std::logic_error("no variant is loaded");
  return *loaded;
}

}  // namespace spectralcls
