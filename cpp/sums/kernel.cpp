#include "sums/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace spectralcls {
namespace {

constexpr auto rows = std::apply(
    [](const auto&... row) { return std::array<Traits, sizeof...(row)>{static_cast<const Traits&>(row)...}; },
    profiles);

}  // namespace

Kernel kernel_from_name(const std::string& name) {
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (name == rows[row].name) return static_cast<Kernel>(row);
  std::string names;
  for (const Traits& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw std::invalid_argument("kernel must be one of " + names + ", got '" + name + "'.");
}

const Traits& traits(Kernel kernel) { return rows[static_cast<std::size_t>(kernel)]; }

template <class T>
double rate(Kernel kernel, double scale, double bandwidth) {
  const double ratio = scale / bandwidth;
  constexpr double log2e = 1.44269504088896340736, largest = sizeof(T) == 4 ? 1e37 : 1e300;
  double rate = ratio * ratio;
  switch (traits(kernel).decay) {
    case Decay::gaussian: rate = log2e / 2 * ratio * ratio; break;
    case Decay::exponential: rate = log2e * ratio; break;
    case Decay::compact: break;
  }
  return std::clamp(rate, 1 / largest, largest);
}
template double rate<float>(Kernel, double, double);
template double rate<double>(Kernel, double, double);

double argument(Kernel kernel, double squared) {
  return traits(kernel).decay == Decay::exponential ? std::sqrt(squared) : squared;
}

}  // namespace spectralcls
