#include "vitrine_codecs.h"

#include <limits.h>
#include <stdlib.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>

struct vitrine_deflater {
  z_stream stream;
};

vitrine_deflater *vitrine_deflate_create(int level, int window_bits) {
  vitrine_deflater *deflater = calloc(1, sizeof *deflater);
  if (!deflater) return NULL;
  // As many symbols of a block as there are bytes in a small window.
  int memory = window_bits < 14 ? window_bits - 6 : 8;
  if (deflateInit2(&deflater->stream, level, Z_DEFLATED, window_bits, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
    free(deflater);
    return NULL;
  }
  return deflater;
}

void vitrine_deflate_destroy(vitrine_deflater *deflater) {
  if (!deflater) return;
  deflateEnd(&deflater->stream);
  free(deflater);
}

int vitrine_deflate(vitrine_deflater *deflater, const uint8_t *bytes, size_t *length, uint8_t *out, size_t *room,
                    int finish) {
  z_stream *stream = &deflater->stream;
  uInt given = *length > INT_MAX ? INT_MAX : (uInt)*length, space = *room > INT_MAX ? INT_MAX : (uInt)*room;
  stream->next_in = (z_const Bytef *)bytes;
  stream->avail_in = given;
  stream->next_out = out;
  stream->avail_out = space;
  int status = deflate(stream, finish && given == *length ? Z_FINISH : Z_NO_FLUSH);
  *length -= given - stream->avail_in;
  *room -= space - stream->avail_out;
  return status == Z_STREAM_END;
}

int vitrine_gunzip(const uint8_t *bytes, size_t length, uint8_t *out, size_t *room) {
  z_stream stream = {.next_in = (z_const Bytef *)bytes, .avail_in = length > INT_MAX ? INT_MAX : (uInt)length};
  stream.next_out = out;
  stream.avail_out = *room > INT_MAX ? INT_MAX : (uInt)*room;
  *room = 0;
  if (inflateInit2(&stream, 32 + MAX_WBITS) != Z_OK) return VITRINE_GUNZIP_DAMAGED;
  int status = inflate(&stream, Z_SYNC_FLUSH);
  int is_full = stream.avail_out == 0;
  *room = stream.total_out;
  inflateEnd(&stream);
  if (status == Z_STREAM_END) return VITRINE_GUNZIP_WHOLE;
  if (status != Z_OK && status != Z_BUF_ERROR) return VITRINE_GUNZIP_DAMAGED;
  return is_full ? VITRINE_GUNZIP_FULL : VITRINE_GUNZIP_TRUNCATED;
}

uint32_t vitrine_adler32(uint32_t checksum, const uint8_t *bytes, size_t length) {
  return isal_adler32(checksum, bytes, length);
}

uint32_t vitrine_crc32(uint32_t checksum, const uint8_t *bytes, size_t length) {
  return crc32_gzip_refl(checksum, bytes, length);
}
