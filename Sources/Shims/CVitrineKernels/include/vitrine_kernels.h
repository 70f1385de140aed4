// Inner loops of resampling, and of PNG's filters, for x86-64 with AVX2 and for arm64, whose processors all have NEON. Other
// processors run their Swift twins. Sums are in the same order and without fused multiplication, so every processor
// produces the same bits: `make check NAME=arm64` compares the two.
#ifndef VITRINE_KERNELS_H
#define VITRINE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/// Returns non-zero if the functions below may be called.
int vitrine_kernels_are_native(void);

/// line[i] = the sum over all taps of rows[tap][i] * weights[tap], for `count` bytes of each row, a multiple of 4.
void vitrine_combine_bytes(const void *const *rows, const float *weights, ptrdiff_t taps, float *line, ptrdiff_t count);
/// The same for rows of floats.
void vitrine_combine_floats(const void *const *rows, const float *weights, ptrdiff_t taps, float *line, ptrdiff_t count);
/// line[i] = the sum over all taps of rows[tap][i] * weights[tap], plus 8,192, divided by 16,384, for `count` numbers of
/// each row, a multiple of 4. `taps` is even, numbers are at least 0, and the weights add up to 16,384 at most.
void vitrine_combine_shorts(const void *const *rows, const int16_t *weights, ptrdiff_t taps, int16_t *line,
                            ptrdiff_t count);
/// Each pixel (four floats) of `output` is the weighted sum of `counts[x]` pixels of `line` from `starts[x]` on, with
/// `stride` weights per pixel: first even and odd taps separately, then their sum.
void vitrine_filter_across(const float *line, const ptrdiff_t *starts, const ptrdiff_t *counts, const float *weights,
                           ptrdiff_t stride, float *output, ptrdiff_t count);

/// Adds to `totals[filter]`, for each of PNG's filters 0 to 4, the sizes of what the filter leaves of the components in
/// `components`, a mask of a pixel's four bytes. The pixels before `row` and `above` must be readable: they are the
/// neighbours of the first ones.
void vitrine_filter_sums(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, uint32_t components,
                         uint64_t *totals);
/// Writes what a filter leaves of a row's pixels: 1 component of each (red), 2 (red and alpha), 3 or 4. Up to 12 bytes
/// behind them may be overwritten.
void vitrine_filter_row(const uint8_t *row, const uint8_t *above, ptrdiff_t pixels, int filter, int components,
                        uint8_t *out);

#endif
