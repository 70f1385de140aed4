#include "vitrine_codecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

// Turns a JPEG by its coefficients, as a mirror or a transposition of each block and of the order of blocks. Nothing is
// decoded to pixels, so nothing is lost.

struct turn {
  struct jpeg_decompress_struct in;
  struct jpeg_compress_struct out;
  struct jpeg_error_mgr errors;
  jmp_buf failed;
  int has_in, has_out, has_destination;
  unsigned char *bytes;
  unsigned long length;
  char message[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr jpeg) {
  struct turn *turn = jpeg->client_data;
  jpeg->err->format_message(jpeg, turn->message);
  longjmp(turn->failed, 1);
}

// A damaged file is no file to write again.
static void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) on_error(jpeg);
}

static void discard(struct turn *turn) {
  if (turn->has_destination) turn->out.dest->term_destination(&turn->out);
  if (turn->has_out) jpeg_destroy_compress(&turn->out);
  if (turn->has_in) jpeg_destroy_decompress(&turn->in);
  free(turn->bytes);
  free(turn);
}

static JDIMENSION rounded_up(JDIMENSION count, int unit) { return (count + (JDIMENSION)unit - 1) / (JDIMENSION)unit * (JDIMENSION)unit; }

// Sets the orientation of an EXIF segment to upright (TIFF 6.0, section 2; the tag 0x0112).
static void set_upright(JOCTET *exif, unsigned length) {
  if (length < 14 || memcmp(exif, "Exif\0\0", 6) != 0) return;
  JOCTET *tiff = exif + 6;
  unsigned count = length - 6, isBig = tiff[0] == 'M';
#define SHORT(at) (isBig ? (unsigned)tiff[at] << 8 | tiff[(at) + 1] : (unsigned)tiff[(at) + 1] << 8 | tiff[at])
  unsigned high = SHORT(isBig ? 4 : 6), low = SHORT(isBig ? 6 : 4);
  if (high != 0 || low + 2 > count) return;
  unsigned entries = SHORT(low);
  for (unsigned i = 0; i < entries && low + 2 + 12 * (i + 1) <= count; i++) {
    unsigned at = low + 2 + 12 * i;
    if (SHORT(at) != 0x0112 || SHORT(at + 2) != 3) continue;
    tiff[at + 8] = isBig ? 0 : 1;
    tiff[at + 9] = isBig ? 1 : 0;
  }
#undef SHORT
}

static void write_markers(struct turn *turn) {
  for (jpeg_saved_marker_ptr marker = turn->in.marker_list; marker; marker = marker->next) {
    // The library writes these two itself.
    if (turn->out.write_JFIF_header && marker->marker == JPEG_APP0 && marker->data_length >= 5 &&
        memcmp(marker->data, "JFIF", 5) == 0)
      continue;
    if (turn->out.write_Adobe_marker && marker->marker == JPEG_APP0 + 14 && marker->data_length >= 5 &&
        memcmp(marker->data, "Adobe", 5) == 0)
      continue;
    if (marker->marker == JPEG_APP0 + 1) set_upright(marker->data, marker->data_length);
    jpeg_write_marker(&turn->out, marker->marker, marker->data, marker->data_length);
  }
}

static void transpose_header(struct turn *turn) {
  turn->out.image_width = turn->in.image_height;
  turn->out.image_height = turn->in.image_width;
  for (int i = 0; i < turn->out.num_components; i++) {
    jpeg_component_info *component = &turn->out.comp_info[i];
    int across = component->h_samp_factor;
    component->h_samp_factor = component->v_samp_factor;
    component->v_samp_factor = across;
  }
  for (int i = 0; i < NUM_QUANT_TBLS; i++) {
    JQUANT_TBL *table = turn->out.quant_tbl_ptrs[i];
    for (int row = 0; table && row < DCTSIZE; row++) {
      for (int column = 0; column < row; column++) {
        UINT16 one = table->quantval[row * DCTSIZE + column];
        table->quantval[row * DCTSIZE + column] = table->quantval[column * DCTSIZE + row];
        table->quantval[column * DCTSIZE + row] = one;
      }
    }
  }
}

static void turn_block(const JCOEF *from, JCOEF *to, int transposes, int mirrors_x, int mirrors_y) {
  for (int row = 0; row < DCTSIZE; row++) {
    for (int column = 0; column < DCTSIZE; column++) {
      JCOEF value = transposes ? from[column * DCTSIZE + row] : from[row * DCTSIZE + column];
      int isOdd = (mirrors_x & column & 1) ^ (mirrors_y & row & 1);
      to[row * DCTSIZE + column] = isOdd ? (JCOEF)-value : value;
    }
  }
}

int vitrine_jpeg_turn(const uint8_t *data, size_t length, int transposes, int mirrors_x, int mirrors_y,
                      vitrine_encoded *result) {
  memset(result, 0, sizeof *result);
  // On the heap, since variables changed between setjmp and longjmp must not be in registers.
  struct turn *turn = calloc(1, sizeof *turn);
  if (!turn) return VITRINE_ERROR;
  turn->in.err = turn->out.err = jpeg_std_error(&turn->errors);
  turn->errors.error_exit = on_error;
  turn->errors.emit_message = on_message;
  turn->in.client_data = turn->out.client_data = turn;
  if (setjmp(turn->failed)) {
    snprintf(result->message, sizeof result->message, "%s", turn->message);
    discard(turn);
    return VITRINE_ERROR;
  }
  jpeg_create_decompress(&turn->in);
  turn->has_in = 1;
  jpeg_create_compress(&turn->out);
  turn->has_out = 1;
  jpeg_mem_src(&turn->in, data, length);
  jpeg_save_markers(&turn->in, JPEG_COM, 0xFFFF);
  for (int i = 0; i < 16; i++) jpeg_save_markers(&turn->in, JPEG_APP0 + i, 0xFFFF);
  jpeg_read_header(&turn->in, TRUE);

  // The size of the unit that blocks of all components make, as the picture will be.
  int across = DCTSIZE * (transposes ? turn->in.max_v_samp_factor : turn->in.max_h_samp_factor);
  int down = DCTSIZE * (transposes ? turn->in.max_h_samp_factor : turn->in.max_v_samp_factor);
  JDIMENSION width = transposes ? turn->in.image_height : turn->in.image_width;
  JDIMENSION height = transposes ? turn->in.image_width : turn->in.image_height;
  // Pixels beyond the edge would come before the first.
  if ((mirrors_x && width % (JDIMENSION)across != 0) || (mirrors_y && height % (JDIMENSION)down != 0)) {
    discard(turn);
    return VITRINE_JPEG_NOT_WHOLE;
  }
  jvirt_barray_ptr turned[MAX_COMPONENTS];
  JDIMENSION columns[MAX_COMPONENTS], rows[MAX_COMPONENTS];
  for (int i = 0; i < turn->in.num_components; i++) {
    jpeg_component_info *component = &turn->in.comp_info[i];
    int h = transposes ? component->v_samp_factor : component->h_samp_factor;
    int v = transposes ? component->h_samp_factor : component->v_samp_factor;
    columns[i] = rounded_up(transposes ? component->height_in_blocks : component->width_in_blocks, h);
    rows[i] = rounded_up(transposes ? component->width_in_blocks : component->height_in_blocks, v);
    turned[i] = turn->in.mem->request_virt_barray((j_common_ptr)&turn->in, JPOOL_IMAGE, TRUE, columns[i], rows[i],
                                                  (JDIMENSION)v);
  }
  jvirt_barray_ptr *source = jpeg_read_coefficients(&turn->in);
  for (int i = 0; i < turn->in.num_components; i++) {
    jpeg_component_info *component = &turn->in.comp_info[i];
    JDIMENSION from_columns = rounded_up(component->width_in_blocks, component->h_samp_factor);
    JDIMENSION from_rows = rounded_up(component->height_in_blocks, component->v_samp_factor);
    for (JDIMENSION y = 0; y < rows[i]; y++) {
      JBLOCKROW to = turn->in.mem->access_virt_barray((j_common_ptr)&turn->in, turned[i], y, 1, TRUE)[0];
      for (JDIMENSION x = 0; x < columns[i]; x++) {
        JDIMENSION mirrored_x = mirrors_x ? columns[i] - 1 - x : x, mirrored_y = mirrors_y ? rows[i] - 1 - y : y;
        JDIMENSION from_x = transposes ? mirrored_y : mirrored_x, from_y = transposes ? mirrored_x : mirrored_y;
        if (from_x >= from_columns || from_y >= from_rows) {
          memset(to[x], 0, sizeof to[x]);
          continue;
        }
        JBLOCKROW from = turn->in.mem->access_virt_barray((j_common_ptr)&turn->in, source[i], from_y, 1, FALSE)[0];
        turn_block(from[from_x], to[x], transposes, mirrors_x, mirrors_y);
      }
    }
  }

  jpeg_copy_critical_parameters(&turn->in, &turn->out);
  if (transposes) transpose_header(turn);
  if (turn->in.progressive_mode) jpeg_simple_progression(&turn->out);
  turn->out.optimize_coding = TRUE;
  jpeg_mem_dest(&turn->out, &turn->bytes, &turn->length);
  turn->has_destination = 1;
  jpeg_write_coefficients(&turn->out, turned);
  write_markers(turn);
  jpeg_finish_compress(&turn->out);
  turn->has_destination = 0;
  jpeg_finish_decompress(&turn->in);
  result->bytes = turn->bytes;
  result->length = turn->length;
  turn->bytes = NULL;
  discard(turn);
  return VITRINE_OK;
}
