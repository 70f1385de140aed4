// libjpeg and libpng as plain functions. Both report errors by longjmp, which must not cross a Swift frame: every
// function here that calls them sets its own jump target and returns a status instead. Nothing is decided here.
#ifndef VITRINE_CODECS_H
#define VITRINE_CODECS_H

#include <stddef.h>
#include <stdint.h>

enum {
  VITRINE_OK = 0,
  VITRINE_ERROR = -1,    // the library gave up; see the message
  VITRINE_STOPPED = -2,  // the stop callback asked for it
};

/// Asked from time to time during long work, with the number of the scan it is at; anything but 0 stops it.
typedef int (*vitrine_stop)(void *context, int scan);

// ---- JPEG in -------------------------------------------------------------------------------------------------

typedef struct vitrine_jpeg_reader vitrine_jpeg_reader;

typedef struct {
  uint32_t width, height;          // as stored
  uint32_t out_width, out_height;  // at the scale started with
  int components;
  int progressive;
} vitrine_jpeg_info;

enum { VITRINE_JPEG_RGBA = 0, VITRINE_JPEG_CMYK = 1 };

/// `data` must stay where it is until the reader is destroyed. NULL when there is no memory.
vitrine_jpeg_reader *vitrine_jpeg_create(const uint8_t *data, size_t length, vitrine_stop stop, void *context);
void vitrine_jpeg_destroy(vitrine_jpeg_reader *);
int vitrine_jpeg_read_header(vitrine_jpeg_reader *, vitrine_jpeg_info *);
/// Starts decoding at `eighths`/8 of the stored size, in one of the layouts above (four bytes a pixel either way).
int vitrine_jpeg_start(vitrine_jpeg_reader *, int eighths, int layout, vitrine_jpeg_info *);
/// Between the start and the first row: reads columns from `*x` on, `*width` of them, and says what it made of both.
int vitrine_jpeg_crop(vitrine_jpeg_reader *, uint32_t *x, uint32_t *width);
/// Passes over rows; a status.
int vitrine_jpeg_skip_rows(vitrine_jpeg_reader *, uint32_t count);
/// Rows read (0 when there are no more), or a status below 0.
int vitrine_jpeg_read_rows(vitrine_jpeg_reader *, uint8_t *rows, size_t stride, int count);
/// The last error's message.
const char *vitrine_jpeg_message(const vitrine_jpeg_reader *);
/// Warnings so far, and the first one's message (empty when there was none).
int vitrine_jpeg_warnings(const vitrine_jpeg_reader *);
const char *vitrine_jpeg_first_warning(const vitrine_jpeg_reader *);
/// Whether data ended before the pixels read so far were complete.
int vitrine_jpeg_truncated(const vitrine_jpeg_reader *);
/// Whether all rows are there at least coarsely: a later scan of a progressive file is what the data lack.
int vitrine_jpeg_is_coarse(const vitrine_jpeg_reader *reader);
/// Whether the data had ended when the reader failed.
int vitrine_jpeg_ran_out(const vitrine_jpeg_reader *reader);

// ---- PNG in --------------------------------------------------------------------------------------------------

typedef struct vitrine_png_reader vitrine_png_reader;

typedef struct {
  uint32_t width, height;
  int bit_depth, interlaced, has_alpha;
  const uint8_t *profile;  // ICC, belongs to the reader; NULL when there is none
  uint32_t profile_length;
} vitrine_png_info;

/// Keeps of what may stand beside pixels the profile only, and the texts where asked to.
vitrine_png_reader *vitrine_png_create(const uint8_t *data, size_t length, size_t chunk_limit, int keep_text);
void vitrine_png_destroy(vitrine_png_reader *);
/// Reads up to the first image data and sets every transformation that leads to RGBA with 8 bits.
int vitrine_png_read_header(vitrine_png_reader *, vitrine_png_info *);
/// Rows read, or a status below 0. An interlaced image is read seven times from top to bottom into the same rows.
int vitrine_png_read_rows(vitrine_png_reader *, uint8_t *rows, size_t stride, int count);
/// The text of a keyword that stands before the image data, inflated; belongs to the reader. NULL when there is none.
const uint8_t *vitrine_png_text(vitrine_png_reader *, const char *keyword, ptrdiff_t *length);
const char *vitrine_png_message(const vitrine_png_reader *);
int vitrine_png_warnings(const vitrine_png_reader *);
int vitrine_png_truncated(const vitrine_png_reader *);

// ---- out -----------------------------------------------------------------------------------------------------

/// What an encoder made; `bytes` is freed with free().
typedef struct {
  uint8_t *bytes;
  size_t length;
  char message[200];
} vitrine_encoded;

/// Rows are RGBA; the fourth byte is ignored.
int vitrine_jpeg_encode(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, int quality,
                        vitrine_encoded *out);
/// Rows are RGBA with straight alpha; without `alpha` the fourth byte is left out of the file.
int vitrine_png_encode(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, int alpha, int level,
                       vitrine_encoded *out);

#endif
