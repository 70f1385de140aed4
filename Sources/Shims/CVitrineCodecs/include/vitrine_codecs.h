// libjpeg, zlib and isa-l as plain functions. libjpeg reports errors by longjmp, which must not cross a Swift frame. Every
// function that calls it sets its own jump target and returns a status instead. This layer makes no decisions.
#ifndef VITRINE_CODECS_H
#define VITRINE_CODECS_H

#include <stddef.h>
#include <stdint.h>

enum {
  VITRINE_OK = 0,
  VITRINE_ERROR = -1,    // the library failed; see the message
  VITRINE_STOPPED = -2,  // the stop callback requested it
};

/// Called now and then during long work, with the number of the current scan. Any result but 0 stops the work.
typedef int (*vitrine_stop)(void *context, int scan);

// ---- JPEG in -------------------------------------------------------------------------------------------------

typedef struct vitrine_jpeg_reader vitrine_jpeg_reader;

typedef struct {
  uint32_t width, height;          // as stored
  uint32_t out_width, out_height;  // at the scale of the start
  int components;
  int progressive;
} vitrine_jpeg_info;

enum { VITRINE_JPEG_RGBA = 0, VITRINE_JPEG_CMYK = 1 };

/// `data` must stay in place until the reader is destroyed. NULL if there is no memory.
vitrine_jpeg_reader *vitrine_jpeg_create(const uint8_t *data, size_t length, vitrine_stop stop, void *context);
void vitrine_jpeg_destroy(vitrine_jpeg_reader *);
int vitrine_jpeg_read_header(vitrine_jpeg_reader *, vitrine_jpeg_info *);
/// Starts decoding at `eighths`/8 of the stored size, in one of the layouts above, both with four bytes a pixel.
/// If the data ends in a row of blocks, that row is delivered, grey where it is missing, or is not.
int vitrine_jpeg_start(vitrine_jpeg_reader *, int eighths, int layout, int shows_partial_rows, vitrine_jpeg_info *);
/// Limits the columns to `*width` from `*x` on, and updates both to the actual values. Call it before the first row.
int vitrine_jpeg_crop(vitrine_jpeg_reader *, uint32_t *x, uint32_t *width);
/// Skips rows and returns a status.
int vitrine_jpeg_skip_rows(vitrine_jpeg_reader *, uint32_t count);
/// Returns the number of rows read, 0 at the end and where the data ends, or a negative status.
int vitrine_jpeg_read_rows(vitrine_jpeg_reader *, uint8_t *rows, size_t stride, int count);
/// The message of the last error.
const char *vitrine_jpeg_message(const vitrine_jpeg_reader *);
/// The number of warnings so far, and the message of the first one, empty if there was none.
int vitrine_jpeg_warnings(const vitrine_jpeg_reader *);
const char *vitrine_jpeg_first_warning(const vitrine_jpeg_reader *);
/// Returns non-zero if the data ended before the pixels read so far were complete.
int vitrine_jpeg_truncated(const vitrine_jpeg_reader *);
/// Returns non-zero if all rows have at least coarse pixels, and only later scans of a progressive file are missing.
int vitrine_jpeg_is_coarse(const vitrine_jpeg_reader *reader);
/// Returns non-zero if the data had ended when the reader failed.
int vitrine_jpeg_ran_out(const vitrine_jpeg_reader *reader);

// ---- PNG in --------------------------------------------------------------------------------------------------

/// How the pixels of a file are stored (PNG, third edition, 11.2).
typedef struct {
  uint32_t width;
  int color_type, bit_depth;
  int is_wide;           // rows have 16 bits a component, in the order of the machine
  int has_key;           // pixels of the colour `key`, as stored, are transparent
  uint16_t key[3];       // grey, or red, green and blue
} vitrine_png_layout;

/// A reader of the rows: inflates them with isa-l, undoes the filters and makes them RGBA.
typedef struct vitrine_png_reader vitrine_png_reader;

enum {
  VITRINE_PNG_HUNGRY = 1,  // all bytes are consumed, and more are needed
  VITRINE_PNG_ENDED,       // the compressed stream has ended
  VITRINE_PNG_DAMAGED,     // it is wrong, or its checksum is
  VITRINE_PNG_FILTER,      // there is no such filter
};

/// `palette` has 256 colours, RGBA, or is NULL for pixels of another type. NULL if there is no memory.
vitrine_png_reader *vitrine_png_create(const vitrine_png_layout *, const uint8_t *palette);
void vitrine_png_destroy(vitrine_png_reader *);
/// The next row is the first of a pass.
void vitrine_png_begin_pass(vitrine_png_reader *);
/// Reads up to `count` rows of `width` pixels, at most the layout's, and returns minus their number, or a status. Takes
/// what it consumes from `*given`; what is left of `bytes` belongs to the next call.
int vitrine_png_read_rows(vitrine_png_reader *, uint32_t width, const uint8_t *bytes, size_t *given, uint8_t *out,
                          size_t stride, int count);
/// A pass of an interlaced file: its first pixel, the distances of its pixels, and the block that each stands for.
typedef struct {
  uint32_t x, y, across, down, block_width, block_height;
} vitrine_png_pass;

/// Writes the pixels of a pass's row into the `count` rows that they stand for, which have `width` pixels each.
void vitrine_png_spread(const uint8_t *line, vitrine_png_pass, uint8_t *rows, uint32_t width, int count, size_t pixel_size);
/// Reads the stream to its end behind the last row. Never returns OK.
int vitrine_png_finish(vitrine_png_reader *, const uint8_t *bytes, size_t *count);

// ---- out -----------------------------------------------------------------------------------------------------

/// The output of an encoder. Release `bytes` with free().
typedef struct {
  uint8_t *bytes;
  size_t length;
  char message[200];
} vitrine_encoded;

/// A segment to be written before the picture: APP`number`, at most 65,533 bytes.
typedef struct {
  int number;
  const uint8_t *bytes;
  size_t length;
} vitrine_jpeg_segment;

typedef struct {
  int quality;
  int across, down;  // the sampling factors of brightness: 1 or 2
  int gray;  // brightness alone
  int progressive;
  const uint8_t *profile;  // ICC; NULL for none
  size_t profile_length;
  const vitrine_jpeg_segment *segments;
  int segment_count;
  vitrine_stop stop;  // called every few rows; NULL for never
  void *context;
} vitrine_jpeg_options;

/// Rows are RGBA. The fourth byte is ignored.
int vitrine_jpeg_encode(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                        const vitrine_jpeg_options *options, vitrine_encoded *out);

/// The part of a JPEG that is kept, in stored pixels, and its turn: it is transposed if asked for, and then mirrored left to
/// right, top to bottom.
typedef struct {
  uint32_t left, top, width, height;
  int transposes, mirrors_x, mirrors_y;
} vitrine_jpeg_part;

/// The edges that become the left and the upper one are not between units of blocks.
enum { VITRINE_JPEG_NOT_WHOLE = 100 };
/// Crops and turns a JPEG without decoding its pixels. All segments are kept as they are.
int vitrine_jpeg_turn(const uint8_t *data, size_t length, vitrine_jpeg_part part, vitrine_encoded *out);

/// zlib's compressor, with a default strategy.
typedef struct vitrine_deflater vitrine_deflater;

/// `window_bits` is the logarithm of the window, from 9 to 15. NULL if there is no memory.
vitrine_deflater *vitrine_deflate_create(int level, int window_bits);
void vitrine_deflate_destroy(vitrine_deflater *);
/// Compresses `*length` bytes into up to `*room` bytes. Sets both to what is left. Call it until nothing is left of
/// `*length`, and with `finish` until it returns non-zero: then the stream has ended.
int vitrine_deflate(vitrine_deflater *, const uint8_t *bytes, size_t *length, uint8_t *out, size_t *room, int finish);
/// How the first stream of gzip or zlib in a file ends within the room.
enum { VITRINE_GUNZIP_WHOLE, VITRINE_GUNZIP_TRUNCATED, VITRINE_GUNZIP_DAMAGED, VITRINE_GUNZIP_FULL };
/// Inflates it into up to `*room` bytes, and sets that to their number.
int vitrine_gunzip(const uint8_t *bytes, size_t length, uint8_t *out, size_t *room);
/// Updates the Adler-32 checksum of RFC 1950, which begins with 1.
uint32_t vitrine_adler32(uint32_t checksum, const uint8_t *bytes, size_t length);
/// Updates the CRC-32 of PNG's chunks, which begins with 0.
uint32_t vitrine_crc32(uint32_t checksum, const uint8_t *bytes, size_t length);

#endif
