#include "vitrine_codecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct vitrine_jpeg_reader {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  jmp_buf failed;
  vitrine_stop stop;
  void *context;
  int stopped, warnings, ran_out, missed_data, shows_partial_rows;
  JDIMENSION rows_there;  // the number of output rows that the data reached, once some were missed
  char message[JMSG_LENGTH_MAX];
  char first_warning[JMSG_LENGTH_MAX];
};

static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

static void on_error(j_common_ptr jpeg) {
  vitrine_jpeg_reader *reader = jpeg->client_data;
  jpeg->err->format_message(jpeg, reader->message);
  longjmp(reader->failed, 1);
}

static void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  vitrine_jpeg_reader *reader = jpeg->client_data;
  if (reader->warnings++ == 0) jpeg->err->format_message(jpeg, reader->first_warning);
  // Entropy-coded data ended before its pixels. That alone means damage; at the end of the data it means truncation.
  if (jpeg->err->msg_code != JWRN_HIT_MARKER) return;
  reader->missed_data = 1;
  const j_decompress_ptr input = &reader->jpeg;
  // An end-of-image marker before the last row ends the data, too: libjpeg makes up the rest.
  if (input->unread_marker == JPEG_EOI) reader->ran_out = 1;
  const JDIMENSION rows = (JDIMENSION)input->max_v_samp_factor * input->scale_num;
  const JDIMENSION whole = input->input_iMCU_row * rows;
  // Chroma of a row of blocks shines through to the rows beside it.
  reader->rows_there = reader->shows_partial_rows ? whole + rows + 1 : whole > 0 ? whole - 1 : 0;
}

static void on_progress(j_common_ptr jpeg) {
  vitrine_jpeg_reader *reader = jpeg->client_data;
  if (reader->stop && reader->stop(reader->context, reader->jpeg.input_scan_number)) {
    reader->stopped = 1;
    longjmp(reader->failed, 1);
  }
}

static void source_nothing(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean source_fill(j_decompress_ptr jpeg) {
  vitrine_jpeg_reader *reader = jpeg->client_data;
  // No warning here: the bit reader reads ahead, so a file that lacks only its end marker gets here too.
  reader->ran_out = 1;
  jpeg->src->next_input_byte = end_of_image;
  jpeg->src->bytes_in_buffer = sizeof end_of_image;
  return TRUE;
}

static void source_skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  if ((size_t)count > jpeg->src->bytes_in_buffer) {
    source_fill(jpeg);
    return;
  }
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= (size_t)count;
}

vitrine_jpeg_reader *vitrine_jpeg_create(const uint8_t *data, size_t length, vitrine_stop stop, void *context) {
  vitrine_jpeg_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->jpeg.err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = on_error;
  reader->errors.emit_message = on_message;
  reader->jpeg.client_data = reader;
  if (setjmp(reader->failed)) {
    free(reader);
    return NULL;
  }
  jpeg_create_decompress(&reader->jpeg);
  reader->stop = stop;
  reader->context = context;
  reader->progress.progress_monitor = on_progress;
  reader->jpeg.progress = &reader->progress;
  reader->source.init_source = source_nothing;
  reader->source.fill_input_buffer = source_fill;
  reader->source.skip_input_data = source_skip;
  reader->source.resync_to_restart = jpeg_resync_to_restart;
  reader->source.term_source = source_nothing;
  reader->source.next_input_byte = data;
  reader->source.bytes_in_buffer = length;
  reader->jpeg.src = &reader->source;
  return reader;
}

void vitrine_jpeg_destroy(vitrine_jpeg_reader *reader) {
  if (!reader) return;
  jpeg_destroy_decompress(&reader->jpeg);
  free(reader);
}

static int failure(const vitrine_jpeg_reader *reader) { return reader->stopped ? VITRINE_STOPPED : VITRINE_ERROR; }

static void describe(const vitrine_jpeg_reader *reader, vitrine_jpeg_info *info) {
  info->width = reader->jpeg.image_width;
  info->height = reader->jpeg.image_height;
  info->out_width = reader->jpeg.output_width;
  info->out_height = reader->jpeg.output_height;
  info->components = reader->jpeg.num_components;
  info->progressive = reader->jpeg.progressive_mode;
}

int vitrine_jpeg_read_header(vitrine_jpeg_reader *reader, vitrine_jpeg_info *info) {
  if (setjmp(reader->failed)) return failure(reader);
  jpeg_read_header(&reader->jpeg, TRUE);
  describe(reader, info);
  return VITRINE_OK;
}

int vitrine_jpeg_start(vitrine_jpeg_reader *reader, int eighths, int layout, int shows_partial_rows,
                       vitrine_jpeg_info *info) {
  if (setjmp(reader->failed)) return failure(reader);
  reader->shows_partial_rows = shows_partial_rows;
  reader->jpeg.scale_num = (unsigned)eighths;
  reader->jpeg.scale_denom = 8;
  reader->jpeg.out_color_space = layout == VITRINE_JPEG_CMYK ? JCS_CMYK : JCS_EXT_RGBA;
  reader->jpeg.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&reader->jpeg);
  describe(reader, info);
  return VITRINE_OK;
}

int vitrine_jpeg_crop(vitrine_jpeg_reader *reader, uint32_t *x, uint32_t *width) {
  if (setjmp(reader->failed)) return failure(reader);
  JDIMENSION offset = *x, count = *width;
  jpeg_crop_scanline(&reader->jpeg, &offset, &count);
  *x = offset;
  *width = count;
  return VITRINE_OK;
}

int vitrine_jpeg_skip_rows(vitrine_jpeg_reader *reader, uint32_t count) {
  if (setjmp(reader->failed)) return failure(reader);
  jpeg_skip_scanlines(&reader->jpeg, count);
  return VITRINE_OK;
}

int vitrine_jpeg_read_rows(vitrine_jpeg_reader *reader, uint8_t *rows, size_t stride, int count) {
  if (setjmp(reader->failed)) return failure(reader);
  JSAMPROW pointers[16];
  const JDIMENSION first = reader->jpeg.output_scanline;
  int done = 0;
  while (done < count && reader->jpeg.output_scanline < reader->jpeg.output_height) {
    int batch = count - done;
    if (batch > 16) batch = 16;
    for (int i = 0; i < batch; i++) pointers[i] = rows + (size_t)(done + i) * stride;
    int got = (int)jpeg_read_scanlines(&reader->jpeg, pointers, (JDIMENSION)batch);
    if (got == 0) break;
    done += got;
  }
  if (!vitrine_jpeg_truncated(reader) || vitrine_jpeg_is_coarse(reader)) return done;
  if (reader->rows_there <= first) return 0;
  const int there = (int)(reader->rows_there - first);
  return done < there ? done : there;
}

const char *vitrine_jpeg_message(const vitrine_jpeg_reader *reader) { return reader->message; }
int vitrine_jpeg_warnings(const vitrine_jpeg_reader *reader) { return reader->warnings; }
const char *vitrine_jpeg_first_warning(const vitrine_jpeg_reader *reader) { return reader->first_warning; }

int vitrine_jpeg_truncated(const vitrine_jpeg_reader *reader) {
  if (!reader->ran_out) return 0;
  if (reader->missed_data) return 1;
  if (!reader->jpeg.progressive_mode || !reader->jpeg.coef_bits) return 0;
  // A progressive file may end between two scans. Then some coefficients lack their last bits.
  for (int c = 0; c < reader->jpeg.num_components; c++)
    for (int k = 0; k < DCTSIZE2; k++)
      if (reader->jpeg.coef_bits[c][k] != 0) return 1;
  return 0;
}

int vitrine_jpeg_is_coarse(const vitrine_jpeg_reader *reader) {
  return reader->jpeg.progressive_mode && (reader->jpeg.input_scan_number > 1 || !reader->missed_data);
}

int vitrine_jpeg_ran_out(const vitrine_jpeg_reader *reader) { return reader->ran_out; }

// ---- out -----------------------------------------------------------------------------------------------------

struct jpeg_writer {
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf failed;
  vitrine_stop stop;
  void *context;
  int stopped, has_destination;
  unsigned char *bytes;
  unsigned long length;
  char message[JMSG_LENGTH_MAX];
};

static void on_write_error(j_common_ptr jpeg) {
  struct jpeg_writer *writer = jpeg->client_data;
  jpeg->err->format_message(jpeg, writer->message);
  longjmp(writer->failed, 1);
}

// Called for each row that is written; after the last, for each row of blocks of the passes that choose the codes.
static void on_write_progress(j_common_ptr jpeg) {
  struct jpeg_writer *writer = jpeg->client_data;
  JDIMENSION row = writer->jpeg.next_scanline;
  if (row < writer->jpeg.image_height && row % 16 != 0) return;
  if (writer->stop && writer->stop(writer->context, 0)) {
    writer->stopped = 1;
    longjmp(writer->failed, 1);
  }
}

// Frees an unfinished writer. libjpeg replaces its buffer as that grows, and says where it is only when told to finish.
static void discard(struct jpeg_writer *writer) {
  if (writer->has_destination) writer->jpeg.dest->term_destination(&writer->jpeg);
  jpeg_destroy_compress(&writer->jpeg);
  free(writer->bytes);
  free(writer);
}

int vitrine_jpeg_encode(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                        const vitrine_jpeg_options *options, vitrine_encoded *out) {
  memset(out, 0, sizeof *out);
  // On the heap, since variables changed between setjmp and longjmp must not be in registers.
  struct jpeg_writer *writer = calloc(1, sizeof *writer);
  if (!writer) {
    snprintf(out->message, sizeof out->message, "out of memory");
    return VITRINE_ERROR;
  }
  writer->jpeg.err = jpeg_std_error(&writer->errors);
  writer->errors.error_exit = on_write_error;
  writer->jpeg.client_data = writer;
  writer->stop = options->stop;
  writer->context = options->context;
  if (setjmp(writer->failed)) {
    int status = writer->stopped ? VITRINE_STOPPED : VITRINE_ERROR;
    snprintf(out->message, sizeof out->message, "%s", writer->message);
    discard(writer);
    return status;
  }
  jpeg_create_compress(&writer->jpeg);
  writer->progress.progress_monitor = on_write_progress;
  writer->jpeg.progress = &writer->progress;
  jpeg_mem_dest(&writer->jpeg, &writer->bytes, &writer->length);
  writer->has_destination = 1;
  writer->jpeg.image_width = width;
  writer->jpeg.image_height = height;
  writer->jpeg.input_components = 4;
  writer->jpeg.in_color_space = JCS_EXT_RGBX;
  jpeg_set_defaults(&writer->jpeg);
  if (options->gray) jpeg_set_colorspace(&writer->jpeg, JCS_GRAYSCALE);
  jpeg_set_quality(&writer->jpeg, options->quality, TRUE);
  writer->jpeg.comp_info[0].h_samp_factor = options->across;
  writer->jpeg.comp_info[0].v_samp_factor = options->down;
  writer->jpeg.optimize_coding = TRUE;
  if (options->progressive) jpeg_simple_progression(&writer->jpeg);
  jpeg_start_compress(&writer->jpeg, TRUE);
  for (int i = 0; i < options->segment_count; i++) {
    const vitrine_jpeg_segment *segment = &options->segments[i];
    jpeg_write_marker(&writer->jpeg, JPEG_APP0 + segment->number, segment->bytes, (unsigned)segment->length);
  }
  if (options->profile) jpeg_write_icc_profile(&writer->jpeg, options->profile, (unsigned)options->profile_length);
  while (writer->jpeg.next_scanline < height) {
    JSAMPROW row = (JSAMPROW)(rows + (size_t)writer->jpeg.next_scanline * stride);
    jpeg_write_scanlines(&writer->jpeg, &row, 1);
  }
  jpeg_finish_compress(&writer->jpeg);
  out->bytes = writer->bytes;
  out->length = writer->length;
  jpeg_destroy_compress(&writer->jpeg);
  free(writer);
  return VITRINE_OK;
}
