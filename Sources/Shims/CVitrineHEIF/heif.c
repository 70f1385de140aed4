#include "vitrine_heif.h"

#include "../../System/CLibHEIF/shim.h"
#include "../../System/opened.h"

VITRINE_LIBRARY(VITRINE_HEIF_FUNCTIONS, vitrine_heif_load, "libheif.so.1")

const char *vitrine_heif_open(void) {
  const char *failure = vitrine_heif_load();
  if (failure) return failure;
  // Since Debian 13 decoders are plugins, files of their own, which libheif would read with the first image: a confined
  // process cannot.
  heif_init(NULL);
  if (heif_have_decoder_for_format(heif_compression_HEVC)) return NULL;
  return "libheif has no decoder for HEVC, which Debian has in libheif-plugin-libde265";
}
