// What somebody writes who needs the Gaussian sums of a few features and nothing else: a loop over queries, in it one over
// points, and all that lies between a coordinate and the sum in registers. bench/core.py compiles it for AVX2 and compares
// the core with it; its limits are those of no tiles, one weight, one bandwidth, n a multiple of 32.
#include <immintrin.h>

#include <cstddef>

namespace {

typedef float Vector __attribute__((vector_size(32)));
typedef float Unaligned __attribute__((vector_size(32), aligned(4)));
typedef int Bits __attribute__((vector_size(32)));
constexpr int lanes = 8, group = 4;  // vectors at a time hide the latency of the polynomial

// 2^(x + 1/2) for x <= 0.
constexpr float polynomial[] = {1.4142136573791504f, 0.9802576899528503f,  0.3397237956523895f,
                                0.07850179821252823f, 0.01368485577404499f, 0.0018671307479962707f};

template <int D>
void sums(const float* queries, std::size_t m, const float* features, std::size_t n, float rate, float* out) {
  for (std::size_t i = 0; i < m; ++i) {
    Vector total[group] = {};
    for (std::size_t j = 0; j < n; j += lanes * group) {
      Vector x[group], p[group], rounded[group];
#pragma GCC unroll 4
      for (int v = 0; v < group; ++v) {
        x[v] = Vector{};
#pragma GCC unroll 4
        for (int k = 0; k < D; ++k) {
          const Vector difference = *reinterpret_cast<const Unaligned*>(features + k * n + j + lanes * v) - queries[i * D + k];
          x[v] += difference * difference;
        }
        x[v] = (Vector)_mm256_max_ps((__m256)(x[v] * -rate - 0.5f), _mm256_set1_ps(-126.9f));
        rounded[v] = x[v] + 12582912.0f;
        x[v] -= rounded[v] - 12582912.0f;
        p[v] = x[v] * polynomial[5] + polynomial[4];
      }
#pragma GCC unroll 4
      for (int k = 3; k >= 0; --k)
#pragma GCC unroll 4
        for (int v = 0; v < group; ++v) p[v] = p[v] * x[v] + polynomial[k];
#pragma GCC unroll 4
      for (int v = 0; v < group; ++v) total[v] += (Vector)((Bits)p[v] + ((Bits)rounded[v] << 23));
    }
    const Vector all = (total[0] + total[1]) + (total[2] + total[3]);
    out[i] = 0;
    for (int lane = 0; lane < lanes; ++lane) out[i] += all[lane];
  }
}

}  // namespace

extern "C" void fused_loop(int d, const float* queries, std::size_t m, const float* features, std::size_t n, float rate, float* out) {
  if (d == 2) sums<2>(queries, m, features, n, rate, out);
  if (d == 3) sums<3>(queries, m, features, n, rate, out);
  if (d == 4) sums<4>(queries, m, features, n, rate, out);
}
