#include "vitrine_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define NATIVE __attribute__((target("avx2")))

static inline NATIVE __m256i load(const uint8_t *bytes) { return _mm256_loadu_si256((const __m256i *)bytes); }

/// (a + b) / 2, rounded down; the instruction rounds up.
static inline NATIVE __m256i average(__m256i a, __m256i b) {
  __m256i odd = _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8(1));
  return _mm256_sub_epi8(_mm256_avg_epu8(a, b), odd);
}

static inline NATIVE __m256i distance(__m256i a, __m256i b) {
  return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
}

/// The Paeth predictor in bytes. Let p = a + b - c. Then |p - a| = |b - c| and |p - b| = |a - c|. |p - c| is their sum
/// if c is outside of a...b, and their difference if it is between. The sum may saturate: it is then larger than either.
static inline NATIVE __m256i paeth(__m256i a, __m256i b, __m256i c) {
  __m256i toA = distance(b, c), toB = distance(a, c);
  __m256i isAbove = _mm256_cmpeq_epi8(_mm256_max_epu8(b, c), b), isOtherAbove = _mm256_cmpeq_epi8(_mm256_max_epu8(a, c), a);
  __m256i isBetween = _mm256_xor_si256(isAbove, isOtherAbove);
  __m256i toC = _mm256_blendv_epi8(_mm256_adds_epu8(toA, toB), distance(toA, toB), isBetween);
  __m256i nearest = _mm256_min_epu8(_mm256_min_epu8(toA, toB), toC);
  __m256i other = _mm256_blendv_epi8(c, b, _mm256_cmpeq_epi8(toB, nearest));
  return _mm256_blendv_epi8(other, a, _mm256_cmpeq_epi8(toA, nearest));
}

static inline NATIVE __m256i residual(const uint8_t *row, const uint8_t *above, int filter) {
  __m256i value = load(row);
  switch (filter) {
    case 1: return _mm256_sub_epi8(value, load(row - 4));
    case 2: return _mm256_sub_epi8(value, load(above));
    case 3: return _mm256_sub_epi8(value, average(load(row - 4), load(above)));
    case 4: return _mm256_sub_epi8(value, paeth(load(row - 4), load(above), load(above - 4)));
    default: return value;
  }
}

static inline NATIVE __m256i size(__m256i residual, __m256i mask) {
  return _mm256_sad_epu8(_mm256_and_si256(_mm256_abs_epi8(residual), mask), _mm256_setzero_si256());
}

static inline NATIVE uint64_t total(__m256i sums) {
  uint64_t parts[4];
  _mm256_storeu_si256((__m256i *)parts, sums);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

/// The last pixels of a row and the one before them, so that 8 can be read.
struct tail {
  uint8_t row[36], above[36];
};

static inline struct tail tail(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels) {
  struct tail tail = {0};
  for (ptrdiff_t i = 0; i < (pixels + 1) * 4; i++) {
    tail.row[i] = row[i - 4];
    tail.above[i] = above[i - 4];
  }
  return tail;
}

struct sums {
  __m256i none, sub, up, mean, best;
};

static inline NATIVE void add_sizes(const uint8_t *row, const uint8_t *above, __m256i mask, struct sums *sums) {
  __m256i value = load(row), a = load(row - 4), b = load(above), c = load(above - 4);
  sums->none = _mm256_add_epi64(sums->none, size(value, mask));
  sums->sub = _mm256_add_epi64(sums->sub, size(_mm256_sub_epi8(value, a), mask));
  sums->up = _mm256_add_epi64(sums->up, size(_mm256_sub_epi8(value, b), mask));
  sums->mean = _mm256_add_epi64(sums->mean, size(_mm256_sub_epi8(value, average(a, b)), mask));
  sums->best = _mm256_add_epi64(sums->best, size(_mm256_sub_epi8(value, paeth(a, b, c)), mask));
}

NATIVE void vitrine_filter_sums(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, uint32_t components,
                                uint64_t *totals) {
  const __m256i mask = _mm256_set1_epi32((int32_t)components), zero = _mm256_setzero_si256();
  struct sums sums = {zero, zero, zero, zero, zero};
  ptrdiff_t x = 0;
  for (; x + 8 <= pixels; x += 8) add_sizes(row + x * 4, above + x * 4, mask, &sums);
  if (x < pixels) {
    struct tail last = tail(row + x * 4, above + x * 4, pixels - x);
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(pixels - x)), places);
    add_sizes(last.row + 4, last.above + 4, _mm256_and_si256(mask, inside), &sums);
  }
  totals[0] += total(sums.none);
  totals[1] += total(sums.sub);
  totals[2] += total(sums.up);
  totals[3] += total(sums.mean);
  totals[4] += total(sums.best);
}

/// Moves the components of each four pixels to the front.
static inline NATIVE __m256i order(int components) {
  switch (components) {
    case 1: return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    case 2: return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 3, 4, 7, 8, 11, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1));
    case 3: return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    default: return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
}

static inline NATIVE void filter_pixels(const uint8_t *row, const uint8_t *above, int filter, int components,
                                        __m256i front, uint8_t *out) {
  __m256i packed = _mm256_shuffle_epi8(residual(row, above, filter), front);
  _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(packed));
  _mm_storeu_si128((__m128i *)(out + 4 * components), _mm256_extracti128_si256(packed, 1));
}

static inline NATIVE void filter_row(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, int filter,
                                     int components, uint8_t *out) {
  const __m256i front = order(components);
  ptrdiff_t x = 0;
  for (; x + 8 <= pixels; x += 8) {
    filter_pixels(row + x * 4, above + x * 4, filter, components, front, out + x * components);
  }
  if (x == pixels) return;
  struct tail last = tail(row + x * 4, above + x * 4, pixels - x);
  uint8_t bytes[48];
  filter_pixels(last.row + 4, last.above + 4, filter, components, front, bytes);
  for (ptrdiff_t i = 0; i < (pixels - x) * components; i++) out[x * components + i] = bytes[i];
}

NATIVE void vitrine_filter_row(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, int filter, int components,
                               uint8_t *out) {
  // Constants, so that each loop has one filter.
  switch (filter) {
    case 1: return filter_row(row, above, pixels, 1, components, out);
    case 2: return filter_row(row, above, pixels, 2, components, out);
    case 3: return filter_row(row, above, pixels, 3, components, out);
    case 4: return filter_row(row, above, pixels, 4, components, out);
    default: return filter_row(row, above, pixels, 0, components, out);
  }
}

#else

void vitrine_filter_sums(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, uint32_t components,
                         uint64_t *totals) {}
void vitrine_filter_row(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, int filter, int components,
                        uint8_t *out) {}

#endif
