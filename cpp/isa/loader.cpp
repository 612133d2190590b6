#include "isa/loader.hpp"

#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>

#include <filesystem>
#else
#include <dlfcn.h>
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>
#include <stdexcept>

namespace spectralcls {
namespace {

const FunctionTable* loaded = nullptr;

GetFunctionTable open_library(const std::string& path) {
#if defined(_WIN32)
  const HMODULE library = LoadLibraryW(std::filesystem::u8path(path).c_str());
  if (!library) throw std::runtime_error(path + " cannot be loaded: Windows error " + std::to_string(GetLastError()));
  return reinterpret_cast<GetFunctionTable>(reinterpret_cast<void*>(GetProcAddress(library, function_table_symbol)));
#else
  // RTLD_LOCAL hides the library's copies of standard templates, which are compiled for this instruction set.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<GetFunctionTable>(dlsym(library, function_table_symbol));
#endif
}

#if defined(__x86_64__)
// The instruction sets that the processor supports and whose registers the operating system saves. They are read with
// cpuid, because not every compiler's runtime library supports __builtin_cpu_supports.
class X86 {
 public:
  X86() {
    unsigned a, b, c = 0, d;
    __get_cpuid(1, &a, &b, &c, &d);
    fma_ = bit(c, 12);
    if (bit(c, 27)) {  // xgetbv is allowed
      unsigned low, high;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      saved_ = low;
    }
    if (!__get_cpuid_count(7, 0, &a, &features_, &c, &d)) features_ = 0;
  }
  bool avx2() const { return saves(0x06) && fma_ && bit(features_, 5) && bit(features_, 8); }  // AVX2, BMI2
  bool avx512() const {                                                                        // F, DQ, BW, VL
    return avx2() && saves(0xe6) && bit(features_, 16) && bit(features_, 17) && bit(features_, 30) &&
           bit(features_, 31);
  }

 private:
  static bool bit(unsigned word, int k) { return word >> k & 1; }
  bool saves(unsigned registers) const { return (saved_ & registers) == registers; }

  unsigned saved_ = 0, features_ = 0;
  bool fma_ = false;
};
#endif

}  // namespace

std::vector<std::string> supported_variants() {
  std::vector<std::string> variants;
#if defined(__x86_64__)
  const X86 processor;
  if (processor.avx512()) variants.emplace_back("avx512");
  if (processor.avx2()) variants.emplace_back("avx2");
#endif
  variants.emplace_back("baseline");
  return variants;
}

void load_variant(const std::string& path) {
  if (loaded) throw std::runtime_error(std::string("the variant '") + loaded->variant + "' is loaded already");
  const GetFunctionTable get = open_library(path);
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
