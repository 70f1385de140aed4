// libtiff as plain functions: its tags are read through varargs, its errors come as formats with a va_list, and a file in
// memory needs seven callbacks. Nothing is decided here.
#ifndef VITRINE_TIFF_H
#define VITRINE_TIFF_H

#include <stddef.h>
#include <stdint.h>

typedef struct vitrine_tiff_reader vitrine_tiff_reader;

typedef struct {
  uint32_t width, height;
  uint32_t band;  // rows of a strip or of a tile
  int bits, samples, photometric, orientation;
  int is_separate;       // planes one after another
  int is_float;          // 32 bits of floating point, in a layout that is read here
  int extra_samples;     // how many
  int extra_sample;      // the first one's meaning: 0 unspecified, 1 associated alpha, 2 unassociated alpha
  const uint8_t *profile;  // ICC, belongs to the reader; NULL when there is none
  uint32_t profile_length;
} vitrine_tiff_info;

/// `data` must stay where it is until the reader is destroyed. No allocation of libtiff's is larger than `allocation_limit`.
/// NULL when there is no memory or the file's header is damaged.
vitrine_tiff_reader *vitrine_tiff_create(const uint8_t *data, size_t length, size_t allocation_limit);
void vitrine_tiff_destroy(vitrine_tiff_reader *);
/// Reads the directory at `offset`. 0, or -1 when libtiff gave up.
int vitrine_tiff_read_directory(vitrine_tiff_reader *, uint64_t offset, vitrine_tiff_info *);
/// Gets ready for rows of the directory that was read. 0; -1 when libtiff gave up; -2 when it cannot show this kind.
int vitrine_tiff_start(vitrine_tiff_reader *, const vitrine_tiff_info *);
/// Writes `count` rows from `row` on, which is the first of a strip or of a row of tiles: R, G, B, A in memory order, samples as
/// stored, not multiplied; of floating point 0 to 1 are all levels there are. 0, or -1 when libtiff gave up.
int vitrine_tiff_read_rows(vitrine_tiff_reader *, uint32_t row, uint32_t count, uint32_t *pixels);
/// Whether a strip or tile of the directory lies behind the end of the data.
int vitrine_tiff_is_truncated(vitrine_tiff_reader *);
/// The first error's message since the directory was read.
const char *vitrine_tiff_message(const vitrine_tiff_reader *);

#endif
