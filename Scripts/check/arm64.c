// Calls every kernel of CVitrineKernels with random numbers, and compares with a plain loop, bit for bit. Prints a line for
// each kernel with a digest of its results, so that processors can be compared. Ends with 1, and names the kernel, if one
// is wrong. The first argument is the number of rounds.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vitrine_kernels.h"

#pragma STDC FP_CONTRACT OFF

enum { longest = 132, most = 40, guard = 64 };

static uint64_t state = 1;
static uint64_t next(void) { // SplitMix64
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}
static int below(int limit) { return (int)(next() % (uint64_t)limit); }

static uint8_t any_byte(void) {
  static const uint8_t extremes[] = {0, 1, 127, 128, 129, 254, 255};
  return below(3) ? (uint8_t)below(256) : extremes[below(sizeof extremes)];
}
// No sum of these is infinite: a NaN has other bits on other processors.
static float any_float(void) {
  static const float extremes[] = {0, -0.0f, 1e-45f, -1e-38f, 1e18f, -1e18f, 255, 16777215};
  return below(8) ? (float)(int64_t)next() * 0x1p-62f : extremes[below(8)];
}

/// Compares what a kernel has written, and adds it to the kernel's digest.
static void compare(const char *name, uint64_t *digest, const void *result, const void *expected, size_t size,
                    const char *format, ...) {
  const uint8_t *bytes = result, *others = expected;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != others[i]) {
      va_list arguments;
      va_start(arguments, format);
      fprintf(stderr, "%s is wrong: byte %zu of its result is %d instead of %d, ", name, i, bytes[i], others[i]);
      vfprintf(stderr, format, arguments);
      fputc('\n', stderr);
      exit(1);
    }
    *digest = (*digest ^ bytes[i]) * 0x100000001B3; // FNV-1a
  }
}

static uint8_t bytes[most][longest];
static float floats[most][longest];
static int16_t shorts[most][longest];
static const void *byte_rows[most], *float_rows[most], *short_rows[most];

static void combine(uint64_t *digests, int count, int taps) {
  float weights[most], result[longest + guard], expected[longest + guard];
  for (int i = 0; i < taps; i++) weights[i] = any_float();

  // What is behind the result stays as it is.
  memset(result, 1, sizeof result);
  memcpy(expected, result, sizeof result);
  vitrine_combine_bytes(byte_rows, weights, taps, result, count);
  for (int i = 0; i < count; i++) {
    expected[i] = 0;
    for (int tap = 0; tap < taps; tap++) expected[i] += (float)bytes[tap][i] * weights[tap];
  }
  compare("vitrine_combine_bytes", &digests[0], result, expected, sizeof result, "of %d with %d taps", count, taps);

  memset(result, 1, sizeof result);
  vitrine_combine_floats(float_rows, weights, taps, result, count);
  for (int i = 0; i < count; i++) {
    expected[i] = 0;
    for (int tap = 0; tap < taps; tap++) expected[i] += floats[tap][i] * weights[tap];
  }
  compare("vitrine_combine_floats", &digests[1], result, expected, sizeof result, "of %d with %d taps", count, taps);

  if (taps % 2) return;
  int16_t parts[most], sums[longest + guard], right[longest + guard];
  memset(sums, 1, sizeof sums);
  memcpy(right, sums, sizeof sums);
  for (int i = 0, left = 16384; i < taps; i++) left -= parts[i] = (int16_t)(below(4) ? below(left / 4 + 1) : below(left + 1));
  vitrine_combine_shorts(short_rows, parts, taps, sums, count);
  for (int i = 0; i < count; i++) {
    int32_t sum = 8192;
    for (int tap = 0; tap < taps; tap++) sum += shorts[tap][i] * parts[tap];
    right[i] = (int16_t)(sum >> 14);
  }
  compare("vitrine_combine_shorts", &digests[2], sums, right, sizeof sums, "of %d with %d taps", count, taps);
}

static void across(uint64_t *digest, int count, int taps) {
  enum { stride = most + 1 };
  static float line[4 * longest], weights[longest * stride];
  float result[4 * longest + guard], expected[4 * longest + guard];
  ptrdiff_t starts[longest], counts[longest];
  for (int i = 0; i < 4 * longest; i++) line[i] = any_float();
  for (int i = 0; i < count * stride; i++) weights[i] = any_float();
  for (int x = 0; x < count; x++) {
    counts[x] = below(2) ? taps : below(most + 1);
    starts[x] = below(longest - (int)counts[x] + 1);
  }
  memset(result, 1, sizeof result);
  memcpy(expected, result, sizeof result);
  vitrine_filter_across(line, starts, counts, weights, stride, result, count);
  for (int i = 0; i < 4 * count; i++) {
    float sums[2] = {0, 0};
    for (int tap = 0; tap < counts[i / 4]; tap++) {
      sums[tap % 2] += line[(starts[i / 4] + tap) * 4 + i % 4] * weights[i / 4 * stride + tap];
    }
    expected[i] = sums[0] + sums[1];
  }
  compare("vitrine_filter_across", digest, result, expected, sizeof result, "of %d with %d taps and fewer", count, taps);
}

/// The residual of a byte (W3C PNG, third edition, chapter 9).
static uint8_t residual(const uint8_t *row, const uint8_t *above, int filter) {
  int a = row[-4], b = above[0], c = above[-4], p = a + b - c;
  int pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
  int predictions[] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
  return (uint8_t)(row[0] - predictions[filter]);
}

static void filters(uint64_t *digests, int pixels) {
  static const uint32_t masks[] = {0xFF, 0xFF0000FF, 0xFFFFFF, 0xFFFFFFFF};
  uint8_t row[4 * longest], above[4 * longest], result[4 * longest + guard], expected[4 * longest + guard];
  for (int i = 0; i < 4 * longest; i++) row[i] = any_byte(), above[i] = below(4) ? any_byte() : row[i];
  for (int components = 1; components <= 4; components++) {
    uint32_t mask = masks[components - 1];
    uint64_t totals[5] = {1, 2, 3, 4, 5}, right[5] = {1, 2, 3, 4, 5};
    vitrine_filter_sums(row + 4, above + 4, pixels, mask, totals);
    for (int filter = 0; filter < 5; filter++) {
      size_t size = 0;
      for (int i = 4; i < 4 * pixels + 4; i++) {
        if (!(mask >> i % 4 * 8 & 1)) continue;
        expected[size] = residual(row + i, above + i, filter);
        right[filter] += (uint64_t)abs((int8_t)expected[size++]);
      }
      memset(result, 1, sizeof result);
      vitrine_filter_row(row + 4, above + 4, pixels, filter, components, result);
      // Twelve bytes behind the result may be overwritten, by anything.
      memset(result + size, 1, 12);
      memset(expected + size, 1, sizeof expected - size);
      compare("vitrine_filter_row", &digests[5], result, expected, sizeof result, "%d pixels of %d components, filter %d",
              pixels, components, filter);
    }
    compare("vitrine_filter_sums", &digests[4], totals, right, sizeof right, "%d pixels of %d components", pixels, components);
  }
}

int main(int count, char **arguments) {
  static const char *names[] = {"vitrine_combine_bytes", "vitrine_combine_floats", "vitrine_combine_shorts",
                                "vitrine_filter_across", "vitrine_filter_sums",    "vitrine_filter_row"};
  uint64_t digests[6] = {0};
  if (!vitrine_kernels_are_native()) {
    fputs("This processor has none of the kernels.\n", stderr);
    return 1;
  }
  for (int round = 0; round < (count > 1 ? atoi(arguments[1]) : 1); round++) {
    for (int tap = 0; tap < most; tap++) {
      byte_rows[tap] = bytes[tap], float_rows[tap] = floats[tap], short_rows[tap] = shorts[tap];
      for (int i = 0; i < longest; i++) {
        bytes[tap][i] = any_byte(), floats[tap][i] = any_float();
        shorts[tap][i] = (int16_t)(below(8) ? below(32768) : 32767 * below(2));
      }
    }
    for (int length = 0; length <= longest; length += 4) {
      for (int taps = 0; taps <= most; taps++) combine(digests, length, taps);
    }
    for (int length = 0; length < longest; length++) {
      across(&digests[3], length, below(most + 1));
      filters(digests, length);
    }
  }
  for (int i = 0; i < 6; i++) printf("%-22s %016llx\n", names[i], (unsigned long long)digests[i]);
  return 0;
}
