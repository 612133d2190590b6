// The radial kernels by name, and the rate at which each falls.
#pragma once

#include <string>

namespace spectralcls {

constexpr double ln2 = 0.69314718055994530942;

enum class Kernel { gaussian, epanechnikov, uniform, quartic, triweight, cosine };

Kernel kernel_from_name(const std::string& name);  // throws std::invalid_argument

// k(u) as a function of r D, where D is the squared distance in the packing's unit and r the kernel's rate:
// u^2 log2(e) / 2 = r D for the Gaussian (so that k = 2^(-r D)), u^2 = r D for the others.
// Kept within the range of T: an infinite distance times the smallest rate is still infinite, a kernel at distance
// zero is 1 even at the largest.
template <class T>
double rate(Kernel kernel, double unit, double bandwidth);

}  // namespace spectralcls
