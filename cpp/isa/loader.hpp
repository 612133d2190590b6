// Chooses the variant that the process uses.
#pragma once

#include <string>
#include <vector>

#include "isa/functions.hpp"

namespace spectralcls {

// Names of the variants that this processor can run, best first.
std::vector<std::string> supported_variants();

// Opens the shared library of a variant and never closes it. At most one variant can be loaded per process. Throws
// std::runtime_error with the reason on failure.
void load_variant(const std::string& path);

// The table of the loaded variant.
const FunctionTable& function_table();

template <class T>
const Functions<T>& functions();
template <>
inline const Functions<float>& functions<float>() {
  return function_table().single_precision;
}
template <>
inline const Functions<double>& functions<double>() {
  return function_table().double_precision;
}

}  // namespace spectralcls
