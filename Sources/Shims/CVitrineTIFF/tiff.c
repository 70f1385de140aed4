#include "vitrine_tiff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "../../System/opened.h"

#define VITRINE_TIFF_FUNCTIONS(F) \
  F(TIFFClientOpenExt) F(TIFFClose) F(TIFFGetField) F(TIFFGetFieldDefaulted) F(TIFFGetStrileByteCountWithErr) \
  F(TIFFGetStrileOffsetWithErr) F(TIFFIsTiled) F(TIFFNumberOfStrips) F(TIFFNumberOfTiles) F(TIFFOpenOptionsAlloc) \
  F(TIFFOpenOptionsFree) F(TIFFOpenOptionsSetErrorHandlerExtR) F(TIFFOpenOptionsSetMaxSingleMemAlloc) \
  F(TIFFOpenOptionsSetWarningHandlerExtR) F(TIFFRGBAImageBegin) F(TIFFRGBAImageEnd) F(TIFFRGBAImageGet) \
  F(TIFFRGBAImageOK) F(TIFFReadScanline) F(TIFFReadTile) F(TIFFScanlineSize) F(TIFFSetField) F(TIFFSetSubDirectory) F(TIFFTileRowSize) \
  F(TIFFTileSize)

VITRINE_TIFF_FUNCTIONS(VITRINE_RENAMED)
VITRINE_LIBRARY(VITRINE_TIFF_FUNCTIONS, vitrine_tiff_open, "libtiff.so.6")

struct vitrine_tiff_reader {
  TIFF *tiff;
  TIFFRGBAImage image;
  int has_image;
  const uint8_t *data;
  size_t length;
  uint64_t offset;
  char message[1024];
};

static tmsize_t on_read(thandle_t handle, void *target, tmsize_t count) {
  vitrine_tiff_reader *reader = handle;
  if (count < 0 || reader->offset >= reader->length) return 0;
  size_t available = reader->length - (size_t)reader->offset;
  if ((size_t)count > available) count = (tmsize_t)available;
  memcpy(target, reader->data + reader->offset, (size_t)count);
  reader->offset += (uint64_t)count;
  return count;
}

static tmsize_t on_write(thandle_t handle, void *source, tmsize_t count) {
  (void)handle, (void)source, (void)count;
  return -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  vitrine_tiff_reader *reader = handle;
  if (whence == SEEK_CUR) offset += reader->offset;
  if (whence == SEEK_END) offset += reader->length;
  reader->offset = offset;
  return offset;
}

static int on_close(thandle_t handle) {
  (void)handle;
  return 0;
}

static toff_t on_size(thandle_t handle) { return ((vitrine_tiff_reader *)handle)->length; }

static int on_map(thandle_t handle, void **base, toff_t *size) {
  vitrine_tiff_reader *reader = handle;
  *base = (void *)reader->data;
  *size = reader->length;
  return 1;
}

static void on_unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)module;
  vitrine_tiff_reader *reader = context;
  if (!reader->message[0]) vsnprintf(reader->message, sizeof reader->message, format, arguments);
  return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
  return 1;
}

vitrine_tiff_reader *vitrine_tiff_create(const uint8_t *data, size_t length, size_t allocation_limit) {
  vitrine_tiff_reader *reader = calloc(1, sizeof *reader);
  TIFFOpenOptions *options = reader ? TIFFOpenOptionsAlloc() : NULL;
  if (!options) {
    free(reader);
    return NULL;
  }
  reader->data = data;
  reader->length = length;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)allocation_limit);
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, reader);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, reader);
  // h: do not read a directory yet.
  reader->tiff = TIFFClientOpenExt("memory", "rh", reader, on_read, on_write, on_seek, on_close, on_size, on_map, on_unmap,
                                   options);
  TIFFOpenOptionsFree(options);
  if (!reader->tiff) {
    free(reader);
    return NULL;
  }
  return reader;
}

void vitrine_tiff_destroy(vitrine_tiff_reader *reader) {
  if (!reader) return;
  if (reader->has_image) TIFFRGBAImageEnd(&reader->image);
  TIFFClose(reader->tiff);
  free(reader);
}

int vitrine_tiff_read_directory(vitrine_tiff_reader *reader, uint64_t offset, vitrine_tiff_info *out) {
  TIFF *tiff = reader->tiff;
  memset(out, 0, sizeof *out);
  reader->message[0] = 0;
  if (!TIFFSetSubDirectory(tiff, offset)) return -1;
  uint16_t bits, samples, photometric = PHOTOMETRIC_MINISWHITE, orientation, planes, kind, inks, extra = 0, *meanings = NULL;
  if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &out->width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &out->height)) return -1;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &kind);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &meanings);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
  out->band = out->height;
  TIFFGetFieldDefaulted(tiff, TIFFIsTiled(tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &out->band);
  out->bits = bits;
  out->samples = samples;
  out->photometric = photometric;
  out->orientation = orientation;
  out->is_separate = planes == PLANARCONFIG_SEPARATE;
  out->sample_format = kind;
  out->ink_set = inks;
  out->extra_samples = extra;
  out->extra_sample = extra > 0 && meanings ? meanings[0] : 0;
  void *profile;
  uint32_t profile_length;
  if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &profile_length, &profile)) {
    out->profile = profile;
    out->profile_length = profile_length;
  }
  return 0;
}

// libtiff fails if the YCbCr coefficients are zero. Other readers then use the defaults.
static void replace_empty_coefficients(TIFF *tiff) {
  float *coefficients, standard[3] = {0.299f, 0.587f, 0.114f};
  if (TIFFGetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &coefficients) && coefficients[1] == 0) {
    TIFFSetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, standard);
  }
}

int vitrine_tiff_start(vitrine_tiff_reader *reader) {
  replace_empty_coefficients(reader->tiff);
  uint16_t extra, *meanings;
  if (TIFFGetField(reader->tiff, TIFFTAG_EXTRASAMPLES, &extra, &meanings) && extra > 0 && meanings[0] == EXTRASAMPLE_UNASSALPHA) {
    // libtiff multiplies colours by unassociated alpha and leaves associated alpha as it is, so declare the alpha
    // associated.
    uint16_t *told = malloc(extra * sizeof *told);
    if (!told) return -1;
    memcpy(told, meanings, extra * sizeof *told);
    told[0] = EXTRASAMPLE_ASSOCALPHA;
    TIFFSetField(reader->tiff, TIFFTAG_EXTRASAMPLES, extra, told);
    free(told);
  }
  char message[1024] = "";
  if (!TIFFRGBAImageOK(reader->tiff, message)) {
    snprintf(reader->message, sizeof reader->message, "%s", message);
    return -2;
  }
  if (!TIFFRGBAImageBegin(&reader->image, reader->tiff, 1, message)) {
    snprintf(reader->message, sizeof reader->message, "%s", message);
    return -2;
  }
  reader->has_image = 1;
  // In stored orientation, from the top. The caller applies the orientation.
  reader->image.orientation = ORIENTATION_TOPLEFT;
  reader->image.req_orientation = ORIENTATION_TOPLEFT;
  return 0;
}

int vitrine_tiff_read_rows(vitrine_tiff_reader *reader, uint32_t row, uint32_t count, uint32_t *pixels) {
  reader->image.row_offset = (int)row;
  reader->image.col_offset = 0;
  return TIFFRGBAImageGet(&reader->image, pixels, reader->image.width, count) ? 0 : -1;
}

static int read_tiles(TIFF *tiff, uint32_t row, uint32_t count, uint8_t *samples, size_t row_size) {
  uint32_t width, height;
  if (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height)) return -1;
  tmsize_t size = TIFFTileSize(tiff), line = TIFFTileRowSize(tiff);
  if (size <= 0 || line <= 0 || height == 0 || size / line < height) return -1;
  uint8_t *tile = malloc((size_t)size);
  if (!tile) return -1;
  int status = 0;
  for (uint32_t done = 0; done < count && status == 0; done += height) {
    uint32_t x = 0;
    for (size_t start = 0; start < row_size; start += (size_t)line, x += width) {
      if (TIFFReadTile(tiff, tile, x, row + done, 0, 0) < 0) {
        status = -1;
        break;
      }
      size_t length = row_size - start < (size_t)line ? row_size - start : (size_t)line;
      for (uint32_t y = 0; y < height && done + y < count; y++)
        memcpy(samples + (size_t)(done + y) * row_size + start, tile + (size_t)y * (size_t)line, length);
    }
  }
  free(tile);
  return status;
}

int vitrine_tiff_read_samples(vitrine_tiff_reader *reader, uint32_t row, uint32_t count, uint8_t *samples, size_t row_size) {
  if (TIFFIsTiled(reader->tiff)) return read_tiles(reader->tiff, row, count, samples, row_size);
  tmsize_t size = TIFFScanlineSize(reader->tiff);
  if (size < 0 || (size_t)size != row_size) return -1;
  for (uint32_t index = 0; index < count; index++)
    if (TIFFReadScanline(reader->tiff, samples + (size_t)index * row_size, row + index, 0) < 0) return -1;
  return 0;
}

int vitrine_tiff_is_truncated(vitrine_tiff_reader *reader) {
  uint32_t count = TIFFIsTiled(reader->tiff) ? TIFFNumberOfTiles(reader->tiff) : TIFFNumberOfStrips(reader->tiff);
  // A directory without a height has 4 billion strips, but no file has more strips than bytes.
  if (count > reader->length) return 1;
  for (uint32_t index = 0; index < count; index++) {
    int failed = 0;
    uint64_t offset = TIFFGetStrileOffsetWithErr(reader->tiff, index, &failed);
    // Each failure costs a search of the directory.
    if (failed) return 0;
    uint64_t length = TIFFGetStrileByteCountWithErr(reader->tiff, index, &failed);
    if (failed) return 0;
    if (offset > reader->length || length > reader->length - offset) return 1;
  }
  return 0;
}

const char *vitrine_tiff_message(const vitrine_tiff_reader *reader) { return reader->message; }
