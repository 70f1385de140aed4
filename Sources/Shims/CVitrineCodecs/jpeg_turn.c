#include "vitrine_codecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

// Crops and turns a JPEG by its coefficients, as a mirror or a transposition of each block and of the order of blocks. Nothing
// is decoded to pixels, so nothing is lost.

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

static void write_markers(struct turn *turn) {
  for (jpeg_saved_marker_ptr marker = turn->in.marker_list; marker; marker = marker->next) {
    // The library writes these two itself.
    if (turn->out.write_JFIF_header && marker->marker == JPEG_APP0 && marker->data_length >= 5 &&
        memcmp(marker->data, "JFIF", 5) == 0)
      continue;
    if (turn->out.write_Adobe_marker && marker->marker == JPEG_APP0 + 14 && marker->data_length >= 5 &&
        memcmp(marker->data, "Adobe", 5) == 0)
      continue;
    jpeg_write_marker(&turn->out, marker->marker, marker->data, marker->data_length);
  }
}

static void transpose_header(struct turn *turn) {
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

// A side of the picture as it is stored: the units that are kept, and whether their order is reversed.
struct side {
  JDIMENSION first, count;
  int is_mirrored;
};

// Returns false if the edge that will be the first is within a unit.
static int plan_side(struct side *side, JDIMENSION start, JDIMENSION length, JDIMENSION unit, int is_mirrored) {
  JDIMENSION edge = is_mirrored ? start + length : start;
  // Pixels beyond the edge would come before the first.
  if (edge % unit != 0) return 0;
  side->count = (length + unit - 1) / unit;
  side->first = is_mirrored ? edge / unit - side->count : edge / unit;
  side->is_mirrored = is_mirrored;
  return 1;
}

// Returns the block of a component at a place of the new picture, which has `factor` blocks in a unit.
static JDIMENSION block_of(const struct side *side, JDIMENSION place, int factor) {
  JDIMENSION first = side->first * (JDIMENSION)factor, count = side->count * (JDIMENSION)factor;
  return first + (side->is_mirrored ? count - 1 - place : place);
}

static void copy_blocks(struct turn *turn, int index, jvirt_barray_ptr from_array, jvirt_barray_ptr to_array,
                        const vitrine_jpeg_part *part, const struct side *across, const struct side *down) {
  jpeg_component_info *component = &turn->in.comp_info[index];
  int h = component->h_samp_factor, v = component->v_samp_factor;
  JDIMENSION columns = (part->transposes ? down->count * (JDIMENSION)v : across->count * (JDIMENSION)h);
  JDIMENSION rows = (part->transposes ? across->count * (JDIMENSION)h : down->count * (JDIMENSION)v);
  JDIMENSION from_columns = rounded_up(component->width_in_blocks, h);
  JDIMENSION from_rows = rounded_up(component->height_in_blocks, v);
  for (JDIMENSION y = 0; y < rows; y++) {
    JBLOCKROW to = turn->in.mem->access_virt_barray((j_common_ptr)&turn->in, to_array, y, 1, TRUE)[0];
    for (JDIMENSION x = 0; x < columns; x++) {
      JDIMENSION from_x = block_of(across, part->transposes ? y : x, h);
      JDIMENSION from_y = block_of(down, part->transposes ? x : y, v);
      if (from_x >= from_columns || from_y >= from_rows) {
        memset(to[x], 0, sizeof to[x]);
        continue;
      }
      JBLOCKROW from = turn->in.mem->access_virt_barray((j_common_ptr)&turn->in, from_array, from_y, 1, FALSE)[0];
      turn_block(from[from_x], to[x], part->transposes, part->mirrors_x, part->mirrors_y);
    }
  }
}

static void write_picture(struct turn *turn, jvirt_barray_ptr *arrays, const vitrine_jpeg_part *part) {
  jpeg_copy_critical_parameters(&turn->in, &turn->out);
  if (part->transposes) transpose_header(turn);
  turn->out.image_width = part->transposes ? part->height : part->width;
  turn->out.image_height = part->transposes ? part->width : part->height;
  if (turn->in.progressive_mode) jpeg_simple_progression(&turn->out);
  turn->out.optimize_coding = TRUE;
  jpeg_mem_dest(&turn->out, &turn->bytes, &turn->length);
  turn->has_destination = 1;
  jpeg_write_coefficients(&turn->out, arrays);
  write_markers(turn);
  jpeg_finish_compress(&turn->out);
  turn->has_destination = 0;
  jpeg_finish_decompress(&turn->in);
}

int vitrine_jpeg_turn(const uint8_t *data, size_t length, vitrine_jpeg_part part, vitrine_encoded *result) {
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

  struct side across, down;
  JDIMENSION unit_x = DCTSIZE * (JDIMENSION)turn->in.max_h_samp_factor;
  JDIMENSION unit_y = DCTSIZE * (JDIMENSION)turn->in.max_v_samp_factor;
  if (part.width == 0 || part.height == 0 || part.left > turn->in.image_width || part.top > turn->in.image_height ||
      part.width > turn->in.image_width - part.left || part.height > turn->in.image_height - part.top ||
      !plan_side(&across, part.left, part.width, unit_x, part.transposes ? part.mirrors_y : part.mirrors_x) ||
      !plan_side(&down, part.top, part.height, unit_y, part.transposes ? part.mirrors_x : part.mirrors_y)) {
    discard(turn);
    return VITRINE_JPEG_NOT_WHOLE;
  }
  jvirt_barray_ptr turned[MAX_COMPONENTS];
  for (int i = 0; i < turn->in.num_components; i++) {
    jpeg_component_info *component = &turn->in.comp_info[i];
    JDIMENSION h = (JDIMENSION)component->h_samp_factor, v = (JDIMENSION)component->v_samp_factor;
    JDIMENSION columns = across.count * h, rows = down.count * v;
    turned[i] = turn->in.mem->request_virt_barray((j_common_ptr)&turn->in, JPOOL_IMAGE, TRUE,
                                                  part.transposes ? rows : columns, part.transposes ? columns : rows,
                                                  part.transposes ? h : v);
  }
  jvirt_barray_ptr *source = jpeg_read_coefficients(&turn->in);
  for (int i = 0; i < turn->in.num_components; i++)
    copy_blocks(turn, i, source[i], turned[i], &part, &across, &down);
  write_picture(turn, turned, &part);
  result->bytes = turn->bytes;
  result->length = turn->length;
  turn->bytes = NULL;
  discard(turn);
  return VITRINE_OK;
}
