#include "vectors.h"

#ifdef NATIVE

typedef int8_t signed_bytes VECTOR(32);
typedef uint8_t half VECTOR(16);
typedef uint64_t sums VECTOR(4);
typedef uint64_t half_sums VECTOR(2);

/// (a + b) / 2, rounded down: the bits of both, and half of those that differ.
static inline NATIVE bytes average(bytes a, bytes b) { return (a & b) + ((a ^ b) >> 1); }

static inline NATIVE bytes distance(bytes a, bytes b) {
  return __builtin_elementwise_max(a, b) - __builtin_elementwise_min(a, b);
}

/// The Paeth predictor in bytes. Let p = a + b - c. Then |p - a| = |b - c| and |p - b| = |a - c|. |p - c| is their sum
/// if c is outside of a...b, and their difference if it is between. The sum may saturate: it is then larger than either.
static inline NATIVE bytes paeth(bytes a, bytes b, bytes c) {
  bytes toA = distance(b, c), toB = distance(a, c);
  bytes toC = (b >= c) ^ (a >= c) ? distance(toA, toB) : __builtin_elementwise_add_sat(toA, toB);
  bytes nearest = __builtin_elementwise_min(__builtin_elementwise_min(toA, toB), toC);
  return toA == nearest ? a : toB == nearest ? b : c;
}

static inline NATIVE bytes residual(const uint8_t *row, const uint8_t *above, int filter) {
  bytes value = *(const bytes *)row, a = *(const bytes *)(row - 4);
  bytes b = *(const bytes *)above, c = *(const bytes *)(above - 4);
  switch (filter) {
    case 1: return value - a;
    case 2: return value - b;
    case 3: return value - average(a, b);
    case 4: return value - paeth(a, b, c);
    default: return value;
  }
}

/// The sizes of signed bytes, each eight of them added up.
static inline NATIVE sums size(bytes residual, bytes mask) {
  bytes sizes = (bytes)__builtin_elementwise_abs((signed_bytes)residual) & mask;
#if defined(__x86_64__)
  return (sums)_mm256_sad_epu8((__m256i)sizes, _mm256_setzero_si256());
#else
  sums result;
  result.lo = (half_sums)vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)sizes.lo)));
  result.hi = (half_sums)vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)sizes.hi)));
  return result;
#endif
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

static inline NATIVE void add_sizes(const uint8_t *row, const uint8_t *above, ints mask, sums *all) {
  // Constants, so that each line has one filter.
  all[0] += size(residual(row, above, 0), (bytes)mask);
  all[1] += size(residual(row, above, 1), (bytes)mask);
  all[2] += size(residual(row, above, 2), (bytes)mask);
  all[3] += size(residual(row, above, 3), (bytes)mask);
  all[4] += size(residual(row, above, 4), (bytes)mask);
}

NATIVE void vitrine_filter_sums(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, uint32_t components,
                                uint64_t *totals) {
  const ints mask = (int32_t)components, numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  sums all[5] = {0, 0, 0, 0, 0};
  ptrdiff_t x = 0;
  for (; x + 8 <= pixels; x += 8) add_sizes(row + x * 4, above + x * 4, mask, all);
  if (x < pixels) {
    struct tail last = tail(row + x * 4, above + x * 4, pixels - x);
    add_sizes(last.row + 4, last.above + 4, mask & (numbers < (int32_t)(pixels - x)), all);
  }
  for (int filter = 0; filter < 5; filter++) {
    totals[filter] += all[filter][0] + all[filter][1] + all[filter][2] + all[filter][3];
  }
}

/// The places of the components that are written, in four pixels: 1 (red), 2 (red and alpha), 3 or 4 of each.
static const uint8_t places[4][16] = {
    {0, 4, 8, 12},
    {0, 3, 4, 7, 8, 11, 12, 15},
    {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

static inline NATIVE void write_pixels(bytes pixels, int components, uint8_t *out) {
  half order = *(const half *)places[components - 1];
#if defined(__x86_64__)
  __m256i both = _mm256_broadcastsi128_si256((__m128i)order);
  bytes packed = (bytes)_mm256_shuffle_epi8((__m256i)pixels, both);
  *(half *)out = packed.lo;
  *(half *)(out + 4 * components) = packed.hi;
#else
  *(half *)out = (half)vqtbl1q_u8((uint8x16_t)pixels.lo, (uint8x16_t)order);
  *(half *)(out + 4 * components) = (half)vqtbl1q_u8((uint8x16_t)pixels.hi, (uint8x16_t)order);
#endif
}

static inline NATIVE void filter_row(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, int filter,
                                     int components, uint8_t *out) {
  ptrdiff_t x = 0;
  // Sixteen pixels in each turn, since the simple filters take few instructions.
#pragma unroll 2
  for (; x + 8 <= pixels; x += 8) {
    write_pixels(residual(row + x * 4, above + x * 4, filter), components, out + x * components);
  }
  if (x == pixels) return;
  struct tail last = tail(row + x * 4, above + x * 4, pixels - x);
  uint8_t written[48];
  write_pixels(residual(last.row + 4, last.above + 4, filter), components, written);
  for (ptrdiff_t i = 0; i < (pixels - x) * components; i++) out[x * components + i] = written[i];
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
