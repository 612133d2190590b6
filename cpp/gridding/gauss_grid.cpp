#include "gridding/gauss_grid.hpp"

namespace spectralcls {

GriddingAccuracy GriddingAccuracy::reach(int d, double relative, double absolute) {
  constexpr double pi = 3.14159265358979323846;
  GriddingAccuracy result;
  const double per_axis = std::expm1(std::log1p(relative) / d);
  // With the following q, the bound e = 2 q / (1 - q^3) >= 2 (q + q^4 + q^9 + ...) is at most `per_axis`.
  double q = per_axis / 2;
  q *= 1 - q * q * q;
  result.spacing = pi / std::sqrt(-2 * std::log(q));
  const double D = result.spacing, e = 2 * q / (1 - q * q * q), c = D * std::sqrt(2 / pi);
  double T = 1;
  for (int k = 1; k < 32; ++k) T += std::exp(-2.0 * k * k * D * D);
  result.relative = std::expm1(d * std::log1p(e));
  for (const int width : gridding_widths) {
    const double a = width * D / 2, near = std::exp(-a * a), far = std::exp(-2 * a * a);
    result.absolute = d * std::pow(1 + e, d - 1) * std::max(2 * c * T * (near + far), (1 + e) * far);
    result.width = width;
    if (result.absolute <= absolute) return result;
  }
  result.width = 0;
  return result;
}

}  // namespace spectralcls
