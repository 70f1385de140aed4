// libtiff as plain functions. It reads tags through varargs, reports errors as formats with a va_list, and needs seven
// callbacks for a file in memory. This layer makes no decisions.
#ifndef VITRINE_TIFF_H
#define VITRINE_TIFF_H

#include <stddef.h>
#include <stdint.h>

/// Opens libtiff, once and before any other function is called. Returns NULL, or why it cannot be opened.
const char *vitrine_tiff_open(void);

typedef struct vitrine_tiff_reader vitrine_tiff_reader;

typedef struct {
  uint32_t width, height;
  uint32_t band;  // rows of a strip or of a tile
  int bits, samples, photometric, orientation;
  int is_separate;       // planes one after another
  int sample_format;     // 1 unsigned, 2 signed, 3 floating point
  int ink_set;           // 1 cyan, magenta, yellow and black
  int extra_samples;     // their number
  int extra_sample;      // the first one's meaning: 0 unspecified, 1 associated alpha, 2 unassociated alpha
  const uint8_t *profile;  // ICC, owned by the reader; NULL if there is none
  uint32_t profile_length;
} vitrine_tiff_info;

/// `data` must stay in place until the reader is destroyed. `allocation_limit` bounds each allocation of libtiff.
/// Returns NULL if there is no memory or the file's header is damaged.
vitrine_tiff_reader *vitrine_tiff_create(const uint8_t *data, size_t length, size_t allocation_limit);
void vitrine_tiff_destroy(vitrine_tiff_reader *);
/// Reads the directory at `offset`. Returns 0, or -1 if libtiff fails.
int vitrine_tiff_read_directory(vitrine_tiff_reader *, uint64_t offset, vitrine_tiff_info *);
/// Prepares to read rows of the current directory. Returns 0, -1 if libtiff fails, or -2 if it does not support the
/// kind.
int vitrine_tiff_start(vitrine_tiff_reader *);
/// Writes `count` rows from `row` on, which must be the first of a strip or of a row of tiles. Pixels are R, G, B, A in
/// memory order, as stored and not premultiplied. Returns 0, or -1 if libtiff fails.
int vitrine_tiff_read_rows(vitrine_tiff_reader *, uint32_t row, uint32_t count, uint32_t *pixels);
/// Writes the stored samples of such rows in the byte order of the machine, without `vitrine_tiff_start`. The samples of a
/// pixel are next to one another; a row has `row_size` bytes. Returns 0, or -1 if libtiff fails, or a row has another size.
int vitrine_tiff_read_samples(vitrine_tiff_reader *, uint32_t row, uint32_t count, uint8_t *samples, size_t row_size);
/// Returns non-zero if a strip or tile of the directory lies beyond the end of the data.
int vitrine_tiff_is_truncated(vitrine_tiff_reader *);
/// The message of the first error since the directory was read.
const char *vitrine_tiff_message(const vitrine_tiff_reader *);

#endif
