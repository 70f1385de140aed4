#include "vitrine_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Not "fma": its sums would differ in the last bit from other processors, and these loops are bound by memory anyway.
#define NATIVE __attribute__((target("avx2")))

int vitrine_kernels_are_native(void) { return __builtin_cpu_supports("avx2") != 0; }

static inline NATIVE __m256 widen(const uint8_t *bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes)));
}

NATIVE void vitrine_combine_bytes(const void *const *rows, const float *weights, ptrdiff_t taps, float *line,
                                  ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    for (ptrdiff_t tap = 0; tap < taps; tap++) {
      const uint8_t *row = (const uint8_t *)rows[tap] + i;
      __m256 weight = _mm256_set1_ps(weights[tap]);
      a = _mm256_add_ps(a, _mm256_mul_ps(widen(row), weight));
      b = _mm256_add_ps(b, _mm256_mul_ps(widen(row + 8), weight));
      c = _mm256_add_ps(c, _mm256_mul_ps(widen(row + 16), weight));
      d = _mm256_add_ps(d, _mm256_mul_ps(widen(row + 24), weight));
    }
    _mm256_storeu_ps(line + i, a);
    _mm256_storeu_ps(line + i + 8, b);
    _mm256_storeu_ps(line + i + 16, c);
    _mm256_storeu_ps(line + i + 24, d);
  }
  for (; i < count; i++) {
    float sum = 0;
    for (ptrdiff_t tap = 0; tap < taps; tap++) sum += (float)((const uint8_t *)rows[tap])[i] * weights[tap];
    line[i] = sum;
  }
}

NATIVE void vitrine_combine_floats(const void *const *rows, const float *weights, ptrdiff_t taps, float *line,
                                   ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    for (ptrdiff_t tap = 0; tap < taps; tap++) {
      const float *row = (const float *)rows[tap] + i;
      __m256 weight = _mm256_set1_ps(weights[tap]);
      a = _mm256_add_ps(a, _mm256_mul_ps(_mm256_loadu_ps(row), weight));
      b = _mm256_add_ps(b, _mm256_mul_ps(_mm256_loadu_ps(row + 8), weight));
      c = _mm256_add_ps(c, _mm256_mul_ps(_mm256_loadu_ps(row + 16), weight));
      d = _mm256_add_ps(d, _mm256_mul_ps(_mm256_loadu_ps(row + 24), weight));
    }
    _mm256_storeu_ps(line + i, a);
    _mm256_storeu_ps(line + i + 8, b);
    _mm256_storeu_ps(line + i + 16, c);
    _mm256_storeu_ps(line + i + 24, d);
  }
  for (; i < count; i++) {
    float sum = 0;
    for (ptrdiff_t tap = 0; tap < taps; tap++) sum += ((const float *)rows[tap])[i] * weights[tap];
    line[i] = sum;
  }
}

NATIVE void vitrine_combine_shorts(const void *const *rows, const int16_t *weights, ptrdiff_t taps, int16_t *line,
                                   ptrdiff_t count) {
  const __m256i half = _mm256_set1_epi32(1 << 13);
  ptrdiff_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i a = half, b = half, c = half, d = half;
    for (ptrdiff_t tap = 0; tap + 2 <= taps; tap += 2) {
      const __m256i *row = (const __m256i *)((const int16_t *)rows[tap] + i);
      const __m256i *next = (const __m256i *)((const int16_t *)rows[tap + 1] + i);
      // Two weights side by side, for two neighbours side by side.
      __m256i weight = _mm256_set1_epi32((int32_t)((uint32_t)(uint16_t)weights[tap] | (uint32_t)(uint16_t)weights[tap + 1] << 16));
      __m256i one = _mm256_loadu_si256(row), other = _mm256_loadu_si256(next);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi16(one, other), weight));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi16(one, other), weight));
      one = _mm256_loadu_si256(row + 1), other = _mm256_loadu_si256(next + 1);
      c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_unpacklo_epi16(one, other), weight));
      d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_unpackhi_epi16(one, other), weight));
    }
    // Packing undoes the order of unpacking.
    _mm256_storeu_si256((__m256i *)(line + i), _mm256_packs_epi32(_mm256_srai_epi32(a, 14), _mm256_srai_epi32(b, 14)));
    _mm256_storeu_si256((__m256i *)(line + i + 16), _mm256_packs_epi32(_mm256_srai_epi32(c, 14), _mm256_srai_epi32(d, 14)));
  }
  for (; i < count; i++) {
    int32_t sum = 1 << 13;
    for (ptrdiff_t tap = 0; tap < taps; tap++) sum += (int32_t)((const int16_t *)rows[tap])[i] * weights[tap];
    line[i] = (int16_t)(sum >> 14);
  }
}

NATIVE void vitrine_filter_across(const float *line, const ptrdiff_t *starts, const ptrdiff_t *counts,
                                  const float *weights, ptrdiff_t stride, float *output, ptrdiff_t count) {
  const __m256i pair = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  for (ptrdiff_t x = 0; x < count; x++) {
    const float *source = line + starts[x] * 4;
    const float *taps = weights + x * stride;
    __m256 sum = _mm256_setzero_ps();
    ptrdiff_t tap = 0;
    for (; tap + 2 <= counts[x]; tap += 2) {
      __m128 two = _mm_castpd_ps(_mm_load_sd((const double *)(taps + tap)));
      __m256 weight = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(two), pair);
      sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_loadu_ps(source + tap * 4), weight));
    }
    __m128 even = _mm256_castps256_ps128(sum);
    if (tap < counts[x]) even = _mm_add_ps(even, _mm_mul_ps(_mm_loadu_ps(source + tap * 4), _mm_set1_ps(taps[tap])));
    _mm_storeu_ps(output + x * 4, _mm_add_ps(even, _mm256_extractf128_ps(sum, 1)));
  }
}

#else

int vitrine_kernels_are_native(void) { return 0; }
void vitrine_combine_bytes(const void *const *rows, const float *weights, ptrdiff_t taps, float *line, ptrdiff_t count) {}
void vitrine_combine_floats(const void *const *rows, const float *weights, ptrdiff_t taps, float *line, ptrdiff_t count) {}
void vitrine_combine_shorts(const void *const *rows, const int16_t *weights, ptrdiff_t taps, int16_t *line,
                            ptrdiff_t count) {}
void vitrine_filter_across(const float *line, const ptrdiff_t *starts, const ptrdiff_t *counts, const float *weights,
                           ptrdiff_t stride, float *output, ptrdiff_t count) {}

#endif
