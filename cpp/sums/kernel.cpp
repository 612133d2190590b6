#include "sums/kernel.hpp"

#include <algorithm>
#include <stdexcept>

namespace spectralcls {

Kernel kernel_from_name(const std::string& name) {
  if (name == "gaussian") return Kernel::gaussian;
  if (name == "epanechnikov") return Kernel::epanechnikov;
  if (name == "uniform") return Kernel::uniform;
  if (name == "quartic") return Kernel::quartic;
  if (name == "triweight") return Kernel::triweight;
  if (name == "cosine") return Kernel::cosine;
  throw std::invalid_argument("unknown kernel '" + name + "'");
}

template <class T>
double rate(Kernel kernel, double unit, double bandwidth) {
  const double ratio = unit / bandwidth;
  constexpr double half_log2e = 0.72134752044448170368;
  constexpr double largest = sizeof(T) == 4 ? 1e37 : 1e300;
  return std::clamp(kernel == Kernel::gaussian ? half_log2e * ratio * ratio : ratio * ratio, 1 / largest, largest);
}
template double rate<float>(Kernel, double, double);
template double rate<double>(Kernel, double, double);

}  // namespace spectralcls
