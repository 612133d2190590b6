// Operations on sixteen values at a time, in as many vectors as this takes. The bits of a mask select values.
#pragma once

#include <array>
#include <cstdint>

#include "infrastructure/simd.hpp"

namespace spectralcls::detail {

// The number of points in a leaf, of queries in a packet, and of bits in a mask.
constexpr int sixteen = 16;
template <class T>
constexpr int vectors_of_sixteen = sixteen / lanes<T>;

#if defined(__AVX2__) && !defined(__AVX512F__)
// For each byte, the places of its set bits, one byte each.
constexpr std::array<std::uint64_t, 256> places_of_set_bits() {
  std::array<std::uint64_t, 256> table{};
  for (unsigned mask = 0; mask < 256; ++mask)
    for (std::uint64_t place = 0, at = 0; place < 8; ++place)
      if (mask >> place & 1) table[mask] |= place << 8 * at++;
  return table;
}
inline constexpr auto set_bits = places_of_set_bits();

inline __m256i places_of(unsigned byte) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(set_bits[byte])));
}
#endif

// Writes those of 16 values whose bits are set, in order. Returns the end of the output. Up to sixteen values from `to`
// on may be overwritten. `to` may equal `from` or lie before it.
template <class E>
inline E* pack_chosen(E* to, const E* from, unsigned bits) {
  static_assert(sizeof(E) == 4 || sizeof(E) == 8);
#if defined(__AVX512F__)
  if constexpr (sizeof(E) == 4) {
    const __m512i chosen = _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), _mm512_loadu_si512(from));
    _mm512_storeu_si512(to, chosen);
    return to + __builtin_popcount(bits);
  } else {
    for (int half = 0; half < 2; ++half) {
      const unsigned here = bits >> 8 * half & 0xff;
      const __m512i chosen =
          _mm512_maskz_compress_epi64(static_cast<__mmask8>(here), _mm512_loadu_si512(from + 8 * half));
      _mm512_storeu_si512(to, chosen);
      to += __builtin_popcount(here);
    }
    return to;
  }
#elif defined(__AVX2__)
  constexpr int n = 32 / sizeof(E);
  for (int part = 0; part < sixteen / n; ++part) {
    unsigned here = bits >> n * part & ((1u << n) - 1);
    const int count = __builtin_popcount(here);
    if constexpr (n == 4) here = _pdep_u32(here, 0x55) * 3;
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + n * part));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(values, places_of(here)));
    to += count;
  }
  return to;
#else
  for (; bits; bits &= bits - 1) *to++ = from[__builtin_ctz(bits)];
  return to;
#endif
}

// Writes the places of the set bits, counted from `first`, in order. Up to sixteen values from `to` on may be
// overwritten.
inline void pack_places(std::int32_t* to, std::int32_t first, unsigned bits) {
#if defined(__AVX512F__)
  const __m512i places = _mm512_add_epi32(_mm512_set1_epi32(first),
                                          _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), places));
#elif defined(__AVX2__)
  for (int half = 0; half < 2; ++half) {
    const unsigned here = bits >> 8 * half & 0xff;
    const __m256i places = _mm256_add_epi32(_mm256_set1_epi32(first + 8 * half), places_of(here));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), places);
    to += __builtin_popcount(here);
  }
#else
  for (; bits; bits &= bits - 1) *to++ = first + __builtin_ctz(bits);
#endif
}

}  // namespace spectralcls::detail
