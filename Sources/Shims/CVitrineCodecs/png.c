#include "vitrine_codecs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

// Bytes behind a row that may be read and written, and before it, where its first pixel's neighbours are zero.
enum { SPARE = 16 };

struct vitrine_png_reader {
  struct inflate_state inflate;
  vitrine_png_layout layout;
  uint8_t palette[1024];
  size_t pixel_bits, pixel_bytes;  // as stored; a pixel of less than a byte counts as one for the filters
  uint8_t *band;                   // inflated bytes from `start` to `end`
  size_t capacity, start, end;
  uint8_t *rows;  // without filters: the last row, and up to four behind it
  int has_ended, has_failed;
};

static size_t stored_length(const vitrine_png_reader *reader, uint32_t width) {
  return ((size_t)width * reader->pixel_bits + 7) / 8;
}

/// The row before the next one is -1, and four may follow it.
static uint8_t *row_at(const vitrine_png_reader *reader, int row) {
  return reader->rows + (size_t)(row + 1) * (stored_length(reader, reader->layout.width) + 2 * SPARE) + SPARE;
}

vitrine_png_reader *vitrine_png_create(const vitrine_png_layout *layout, const uint8_t *palette) {
  vitrine_png_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  static const uint8_t samples[] = {1, 0, 3, 1, 2, 0, 4};
  reader->layout = *layout;
  if (palette) memcpy(reader->palette, palette, sizeof reader->palette);
  reader->pixel_bits = (size_t)samples[layout->color_type] * (size_t)layout->bit_depth;
  reader->pixel_bytes = (reader->pixel_bits + 7) / 8;
  size_t length = stored_length(reader, layout->width), least = 1 + length, most = 16 * least;
  reader->capacity = least > 1 << 18 ? least : most < 1 << 18 ? most : 1 << 18;
  reader->band = malloc(reader->capacity + SPARE);
  reader->rows = calloc(5, length + 2 * SPARE);
  if (!reader->band || !reader->rows) {
    vitrine_png_destroy(reader);
    return NULL;
  }
  isal_inflate_init(&reader->inflate);
  reader->inflate.crc_flag = ISAL_ZLIB;
  return reader;
}

void vitrine_png_destroy(vitrine_png_reader *reader) {
  if (!reader) return;
  free(reader->band);
  free(reader->rows);
  free(reader);
}

void vitrine_png_begin_pass(vitrine_png_reader *reader) {
  memset(row_at(reader, -1), 0, stored_length(reader, reader->layout.width));
}

// ---- Compressed data -----------------------------------------------------------------------------------------

/// Inflates until the band holds `length` bytes.
static int fill(vitrine_png_reader *reader, size_t length, const uint8_t *bytes, size_t *count) {
  struct inflate_state *inflate = &reader->inflate;
  if (reader->end - reader->start >= length) return VITRINE_OK;
  memmove(reader->band, reader->band + reader->start, reader->end - reader->start);
  reader->end -= reader->start;
  reader->start = 0;
  size_t given = *count > INT_MAX ? INT_MAX : *count;
  inflate->next_in = (uint8_t *)bytes;
  inflate->avail_in = (uint32_t)given;
  // The library compares distances with this number, which has only 32 bits.
  if (inflate->total_out > 1u << 30) inflate->total_out = 1u << 20;
  // The library must not be called again after a failure.
  while (reader->end < length && !reader->has_ended && !reader->has_failed) {
    size_t room = reader->capacity - reader->end;
    inflate->next_out = reader->band + reader->end;
    inflate->avail_out = room > INT_MAX ? INT_MAX : (uint32_t)room;
    uint32_t before_out = inflate->avail_out, before_in = inflate->avail_in;
    reader->has_failed = isal_inflate(inflate) != ISAL_DECOMP_OK;
    reader->end += before_out - inflate->avail_out;
    reader->has_ended = inflate->block_state == ISAL_BLOCK_FINISH;
    if (before_out == inflate->avail_out && before_in == inflate->avail_in) break;
  }
  // At its end the stream may give back bytes of an earlier call.
  if (inflate->avail_in < given) *count -= given - inflate->avail_in;
  if (reader->end >= length) return VITRINE_OK;
  if (reader->has_failed) return VITRINE_PNG_DAMAGED;
  return reader->has_ended ? VITRINE_PNG_ENDED : VITRINE_PNG_HUNGRY;
}

// ---- Filters (PNG, third edition, 9.2) -----------------------------------------------------------------------

// The bytes of four pixels.
typedef uint8_t bytes16 __attribute__((ext_vector_type(16)));

static inline bytes16 choose(bytes16 mask, bytes16 value, bytes16 other) { return (mask & value) | (~mask & other); }

static inline bytes16 distance(bytes16 a, bytes16 b) {
  return __builtin_elementwise_sub_sat(a, b) | __builtin_elementwise_sub_sat(b, a);
}

/// The mean, rounded down, without a ninth bit.
static inline bytes16 average(bytes16 a, bytes16 b) { return (a & b) + ((a ^ b) >> 1); }

/// The Paeth predictor in bytes. Let p = a + b - c. Then |p - a| = |b - c| and |p - b| = |a - c|. |p - c| is their sum
/// if c is outside of a...b, and their difference if it is between. The sum may saturate: it is then larger than either.
static inline bytes16 paeth(bytes16 a, bytes16 b, bytes16 c) {
  bytes16 to_a = distance(b, c), to_b = distance(a, c);
  bytes16 is_between = (bytes16)(b >= c) ^ (bytes16)(a >= c);
  bytes16 to_c = choose(is_between, distance(to_a, to_b), __builtin_elementwise_add_sat(to_a, to_b));
  bytes16 least = __builtin_elementwise_min(__builtin_elementwise_min(to_a, to_b), to_c);
  return choose((bytes16)(to_a == least), a, choose((bytes16)(to_b == least), b, c));
}

/// Masks of the four rows, one for each filter but "none".
struct predictors {
  bytes16 left, up, mean, paeth;
};

// Four rows, each a pixel behind the one above it, whose pixels it needs: the filters of one row allow only one pixel at
// a time.
struct four {
  const uint8_t *raw[4], *above;
  uint8_t *rows[4];
  struct predictors use;
  bytes16 left, corner;
};

/// Pixel `x` of the first row, and those of the rows below it. With `is_edge`, those of some rows are outside.
static inline void step(struct four *four, ptrdiff_t x, ptrdiff_t pixels, ptrdiff_t size, int is_edge) {
  typedef uint32_t words4 __attribute__((ext_vector_type(4)));
  uint32_t stored[4] = {0}, next = 0;
  for (ptrdiff_t row = 0; row < 4; row++)
    if (!is_edge || (x >= row && x - row < pixels)) memcpy(stored + row, four->raw[row] + (x - row) * size, 4);
  if (!is_edge || x < pixels) memcpy(&next, four->above + x * size, 4);
  bytes16 left = four->left, corner = four->corner;
  bytes16 up = (bytes16) __builtin_shufflevector((words4)left, (words4){next}, 4, 0, 1, 2);
  bytes16 predicted = (four->use.left & left) | (four->use.up & up) | (four->use.mean & average(left, up)) |
                      (four->use.paeth & paeth(left, up, corner));
  words4 pixel = (words4)((bytes16)(words4){stored[0], stored[1], stored[2], stored[3]} + predicted);
  for (ptrdiff_t row = 0; row < 4; row++) {
    uint32_t value = pixel[row];
    if (!is_edge || (x >= row && x - row < pixels)) memcpy(four->rows[row] + (x - row) * size, &value, 4);
    // Nothing is to the left of a row's first pixel.
    if (is_edge && x < row) pixel[row] = 0;
  }
  four->left = (bytes16)pixel;
  four->corner = up;
}

/// Pixels have `size` bytes, 3 or 4.
static inline void undo_four(struct four *four, ptrdiff_t pixels, ptrdiff_t size) {
  struct four all = *four;
  ptrdiff_t x = 0;
  for (; x < 3; x++) step(&all, x, pixels, size, 1);
  for (; x < pixels; x++) step(&all, x, pixels, size, 0);
  for (; x < pixels + 3; x++) step(&all, x, pixels, size, 1);
}

/// A single row, whose filter stands before it.
static void undo(const uint8_t *raw, const uint8_t *above, uint8_t *row, ptrdiff_t length, ptrdiff_t size) {
  // The bytes before a row are zero.
  switch (raw[-1]) {
    case 1:
      for (ptrdiff_t i = 0; i < length; i++) row[i] = raw[i] + row[i - size];
      break;
    case 2:
      for (ptrdiff_t i = 0; i < length; i++) row[i] = raw[i] + above[i];
      break;
    case 3:
      for (ptrdiff_t i = 0; i < length; i++) row[i] = raw[i] + (uint8_t)((row[i - size] + above[i]) >> 1);
      break;
    case 4:
      for (ptrdiff_t i = 0; i < length; i++) {
        int a = row[i - size], b = above[i], c = above[i - size];
        int to_a = abs(b - c), to_b = abs(a - c), to_c = abs(a + b - 2 * c);
        row[i] = raw[i] + (uint8_t)(to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c);
      }
      break;
    default: memcpy(row, raw, (size_t)length);
  }
}

// ---- Pixels --------------------------------------------------------------------------------------------------

static inline uint32_t sample(const uint8_t *row, size_t index, int depth) {
  switch (depth) {
    case 16: return (uint32_t)row[2 * index] << 8 | row[2 * index + 1];
    case 8: return row[index];
    default: {
      size_t bit = index * (size_t)depth;
      return (uint32_t)row[bit / 8] >> (8 - (size_t)depth - bit % 8) & ((1u << depth) - 1);
    }
  }
}

/// A sample of any depth as a level of 8 bits, rounded, or of 16.
static inline uint32_t level(uint32_t value, int depth, int is_wide) {
  if (depth == 16) return is_wide ? value : (value * 255 + 32895) >> 16;
  uint32_t byte = value * (255 / ((1u << depth) - 1));
  return is_wide ? byte * 257 : byte;
}

static inline void put(uint8_t *out, size_t x, uint32_t red, uint32_t green, uint32_t blue, uint32_t alpha, int is_wide) {
  if (is_wide) {
    uint16_t pixel[4] = {(uint16_t)red, (uint16_t)green, (uint16_t)blue, (uint16_t)alpha};
    memcpy(out + 8 * x, pixel, 8);
  } else {
    uint32_t pixel = red | green << 8 | blue << 16 | alpha << 24;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) pixel = __builtin_bswap32(pixel);
    memcpy(out + 4 * x, &pixel, 4);
  }
}

/// Any kind of pixel, made RGBA.
static inline void expand(const vitrine_png_reader *reader, const uint8_t *row, uint32_t width, uint8_t *out, int type,
                          int depth, int is_wide) {
  uint32_t most = is_wide ? 0xffff : 0xff;
  for (size_t x = 0; x < width; x++) {
    if (type == 3) {
      const uint8_t *color = reader->palette + 4 * sample(row, x, depth);
      uint32_t scale = is_wide ? 257 : 1;
      put(out, x, color[0] * scale, color[1] * scale, color[2] * scale, color[3] * scale, is_wide);
    } else if (type == 0 || type == 4) {
      size_t count = type == 4 ? 2 : 1;
      uint32_t gray = sample(row, count * x, depth), shown = level(gray, depth, is_wide);
      uint32_t alpha = type == 4 ? level(sample(row, 2 * x + 1, depth), depth, is_wide) : most;
      if (type == 0 && reader->layout.has_key && gray == reader->layout.key[0]) alpha = 0;
      put(out, x, shown, shown, shown, alpha, is_wide);
    } else {
      size_t first = type == 6 ? 4 * x : 3 * x;
      uint32_t red = sample(row, first, depth), green = sample(row, first + 1, depth), blue = sample(row, first + 2, depth);
      uint32_t alpha = type == 6 ? level(sample(row, first + 3, depth), depth, is_wide) : most;
      if (type == 2 && reader->layout.has_key && red == reader->layout.key[0] && green == reader->layout.key[1] && blue == reader->layout.key[2]) alpha = 0;
      put(out, x, level(red, depth, is_wide), level(green, depth, is_wide), level(blue, depth, is_wide), alpha, is_wide);
    }
  }
}

static void expand_row(const vitrine_png_reader *reader, const uint8_t *row, uint32_t width, uint8_t *out) {
  int type = reader->layout.color_type, depth = reader->layout.bit_depth;
  if (reader->layout.is_wide) {
    expand(reader, row, width, out, type, depth, 1);
  } else if (depth == 8 && type == 6) {
    memcpy(out, row, 4 * (size_t)width);
  } else if (depth == 8 && type == 2 && !reader->layout.has_key) {
    for (size_t x = 0; x < width; x++) {
      uint8_t pixel[4];
      memcpy(pixel, row + 3 * x, 4);
      pixel[3] = 255;
      memcpy(out + 4 * x, pixel, 4);
    }
  } else if (depth == 8) {
    // Constants, so that the common kinds have loops of their own.
    switch (type) {
      case 0: return expand(reader, row, width, out, 0, 8, 0);
      case 2: return expand(reader, row, width, out, 2, 8, 0);
      case 3: return expand(reader, row, width, out, 3, 8, 0);
      default: return expand(reader, row, width, out, 4, 8, 0);
    }
  } else {
    expand(reader, row, width, out, type, depth, 0);
  }
}

/// The next rows, up to four, without their filters. Returns their number; 0 if the first one's filter does not exist.
static int undo_filters(vitrine_png_reader *reader, size_t length, int count) {
  struct four four = {.above = row_at(reader, -1)};
  for (int row = 0; row < count; row++) {
    four.raw[row] = reader->band + reader->start + row * (1 + length) + 1;
    four.rows[row] = row_at(reader, row);
    int filter = four.raw[row][-1];
    if (filter > 4) count = row;
    for (int byte = 4 * row; byte < 4 * row + 4; byte++) {
      four.use.left[byte] = filter == 1 ? 255 : 0;
      four.use.up[byte] = filter == 2 ? 255 : 0;
      four.use.mean[byte] = filter == 3 ? 255 : 0;
      four.use.paeth[byte] = filter == 4 ? 255 : 0;
    }
  }
  ptrdiff_t size = (ptrdiff_t)reader->pixel_bytes;
  // A pixel of fewer bytes is one of four, of which the others are thrown away.
  if (count == 4 && size == 1) {
    undo_four(&four, (ptrdiff_t)length, 1);
  } else if (count == 4 && size == 2) {
    undo_four(&four, (ptrdiff_t)length / 2, 2);
  } else if (count == 4 && size == 3) {
    undo_four(&four, (ptrdiff_t)length / 3, 3);
  } else if (count == 4 && size == 4) {
    undo_four(&four, (ptrdiff_t)length / 4, 4);
  } else {
    for (int row = 0; row < count; row++) undo(four.raw[row], row_at(reader, row - 1), four.rows[row], (ptrdiff_t)length, size);
  }
  return count;
}

int vitrine_png_read_rows(vitrine_png_reader *reader, uint32_t width, const uint8_t *bytes, size_t *given, uint8_t *out,
                          size_t stride, int count) {
  size_t length = stored_length(reader, width);
  int status = fill(reader, 1 + length, bytes, given);
  if (status != VITRINE_OK) return status;
  int done = 0;
  while (done < count) {
    int whole = (int)((reader->end - reader->start) / (1 + length));
    int next = whole < 4 ? whole : 4;
    if (next > count - done) next = count - done;
    if (next == 0 || (next < 4 && done > 0)) break;
    next = undo_filters(reader, length, next);
    if (next == 0) return done > 0 ? -done : VITRINE_PNG_FILTER;
    for (int row = 0; row < next; row++, done++) expand_row(reader, row_at(reader, row), width, out + done * stride);
    memcpy(row_at(reader, -1), row_at(reader, next - 1), length);
    reader->start += (size_t)next * (1 + length);
  }
  return -done;
}

void vitrine_png_spread(const uint8_t *line, vitrine_png_pass pass, uint8_t *rows, uint32_t width, int count,
                        size_t pixel_size) {
  for (int row = 0; row < count; row++, rows += width * pixel_size) {
    const uint8_t *pixel = line;
    for (uint32_t x = pass.x; x < width; x += pass.across, pixel += pixel_size)
      for (uint32_t copy = x; copy < x + pass.block_width && copy < width; copy++)
        memcpy(rows + copy * pixel_size, pixel, pixel_size);
  }
}

int vitrine_png_finish(vitrine_png_reader *reader, const uint8_t *bytes, size_t *count) {
  // What is left over is thrown away.
  int status = VITRINE_OK;
  while (status == VITRINE_OK) {
    reader->start = reader->end;
    status = fill(reader, 1, bytes, count);
  }
  return status;
}
