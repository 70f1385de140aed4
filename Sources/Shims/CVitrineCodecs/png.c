#include "vitrine_codecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct vitrine_png_reader {
  png_structp png;
  png_infop info;
  const uint8_t *data;
  size_t length, offset;
  int warnings, ran_out, is_cut, failed;
  int passes, pass;
  uint32_t height, row;
  char message[200];
};

static void on_read(png_structp png, png_bytep bytes, png_size_t count) {
  vitrine_png_reader *reader = png_get_io_ptr(png);
  if (count > reader->length - reader->offset) {
    reader->ran_out = 1;
    png_error(png, "the data ends too early");
  }
  memcpy(bytes, reader->data + reader->offset, count);
  reader->offset += count;
}

static void on_error(png_structp png, png_const_charp message) {
  vitrine_png_reader *reader = png_get_error_ptr(png);
  snprintf(reader->message, sizeof reader->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)message;
  ((vitrine_png_reader *)png_get_error_ptr(png))->warnings++;
}

vitrine_png_reader *vitrine_png_create(const uint8_t *data, size_t length, size_t chunk_limit,
                                      int keep_text) {
  vitrine_png_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->data = data;
  reader->length = length;
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
  reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
  if (!reader->info) {
    vitrine_png_destroy(reader);
    return NULL;
  }
  if (setjmp(png_jmpbuf(reader->png))) {
    vitrine_png_destroy(reader);
    return NULL;
  }
  png_set_read_fn(reader->png, reader, on_read);
  reader->is_cut = length < 8 || memcmp(data + length - 8, "IEND", 4) != 0;
  png_set_user_limits(reader->png, 0x7fffffff, 0x7fffffff);  // the caller has checked its own
  png_set_chunk_malloc_max(reader->png, chunk_limit);
  png_set_benign_errors(reader->png, 1);
  // A file may have a thousand texts that each inflate to the limit, so texts are read only on request.
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  static const png_byte kept[] = "iCCP\0iTXt";
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_AS_DEFAULT, kept, keep_text ? 2 : 1);
  return reader;
}

void vitrine_png_destroy(vitrine_png_reader *reader) {
  if (!reader) return;
  if (reader->png) png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}

int vitrine_png_read_header(vitrine_png_reader *reader, vitrine_png_info *out, int is_wide) {
  if (setjmp(png_jmpbuf(reader->png))) return VITRINE_ERROR;
  png_structp png = reader->png;
  png_infop info = reader->info;
  png_read_info(png, info);
  memset(out, 0, sizeof *out);
  out->width = png_get_image_width(png, info);
  out->height = png_get_image_height(png, info);
  out->bit_depth = png_get_bit_depth(png, info);
  out->interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
  out->has_alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  png_charp name;
  int compression;
  png_bytep profile;
  png_uint_32 profile_length;
  if (png_get_iCCP(png, info, &name, &compression, &profile, &profile_length)) {
    out->profile = profile;
    out->profile_length = profile_length;
  }
  png_set_expand(png);
  if (is_wide) {
    png_set_expand_16(png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png);
  } else {
    png_set_scale_16(png);
  }
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, is_wide ? 0xffff : 255, PNG_FILLER_AFTER);
  reader->passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  reader->height = out->height;
  return VITRINE_OK;
}

// libpng loses a block of compressed data that is not there as a whole. At the end of a file without its last chunk, where a
// row could run out of data, a block is one byte.
static void read_to_the_end(vitrine_png_reader *reader) {
  if (!reader->is_cut || reader->length - reader->offset > 16 * (size_t)png_get_image_width(reader->png, reader->info) + 16384)
    return;
  png_set_compression_buffer_size(reader->png, 1);
  reader->is_cut = 0;
}

int vitrine_png_read_rows(vitrine_png_reader *reader, uint8_t *rows, size_t stride, int count) {
  // Changed between setjmp and longjmp.
  volatile int done = 0;
  if (reader->failed) return VITRINE_ERROR;
  if (setjmp(png_jmpbuf(reader->png))) {
    // The rows before the failure first.
    reader->failed = 1;
    return done > 0 ? done : VITRINE_ERROR;
  }
  while (done < count && reader->pass < reader->passes) {
    // As "display row", each pass of an interlaced file fills the blocks of its pixels.
    png_bytep row = rows + (size_t)done * stride;
    read_to_the_end(reader);
    png_read_row(reader->png, reader->passes > 1 ? NULL : row, reader->passes > 1 ? row : NULL);
    done++;
    if (++reader->row == reader->height) {
      reader->row = 0;
      reader->pass++;
      break;
    }
  }
  return done;
}

const uint8_t *vitrine_png_text(vitrine_png_reader *reader, const char *keyword, ptrdiff_t *length) {
  png_textp text = NULL;
  int count = 0;
  png_get_text(reader->png, reader->info, &text, &count);
  for (int i = 0; i < count; i++) {
    if (strcmp(text[i].key, keyword) != 0 || !text[i].text) continue;
    *length = (ptrdiff_t)strlen(text[i].text);
    return (const uint8_t *)text[i].text;
  }
  return NULL;
}

const char *vitrine_png_message(const vitrine_png_reader *reader) { return reader->message; }
int vitrine_png_warnings(const vitrine_png_reader *reader) { return reader->warnings; }
int vitrine_png_truncated(const vitrine_png_reader *reader) { return reader->ran_out; }
