#ifndef VITRINE_CLIBAVIF_H
#define VITRINE_CLIBAVIF_H

#if !__has_include(<avif/avif.h>)
#error "Headers are missing: apt-get install libavif-dev"
#endif

#include <avif/avif.h>

#include "../renamed.h"

#define VITRINE_AVIF_FUNCTIONS(F) \
  F(avifCropRectConvertCleanApertureBox) F(avifDecoderCreate) F(avifDecoderDestroy) F(avifDecoderNearestKeyframe) \
  F(avifDecoderNthImage) F(avifDecoderNthImageTiming) F(avifDecoderParse) F(avifDecoderSetIOMemory) \
  F(avifEncoderAddImage) F(avifEncoderCreate) F(avifEncoderDestroy) F(avifEncoderFinish) F(avifImageAllocatePlanes) \
  F(avifImageCreate) F(avifImageCreateEmpty) F(avifImageDestroy) F(avifImageRGBToYUV) F(avifImageSetMetadataExif) \
  F(avifImageSetMetadataXMP) F(avifImageSetViewRect) F(avifImageYUVToRGB) F(avifRGBImageSetDefaults) \
  F(avifRWDataFree) F(avifResultToString)

VITRINE_AVIF_FUNCTIONS(VITRINE_RENAMED)

/// The axis of a mirroring, 0 for top to bottom and 1 for left to right: libavif 1.0 renamed the field.
static inline int vitrine_avif_mirror(const avifImage *image) {
#if AVIF_VERSION >= 1000000
  return image->imir.axis;
#else
  return image->imir.mode;
#endif
}

/// Sets the quality of colours, from 0 to 100, which is lossless; coverage is always lossless. libavif 1.0 made the
/// scale; before, there was the quantizer that it is mapped to.
static inline void vitrine_avif_set_quality(avifEncoder *encoder, int quality) {
#if AVIF_VERSION >= 1000000
  encoder->quality = quality;
  encoder->qualityAlpha = AVIF_QUALITY_LOSSLESS;
#else
  encoder->minQuantizer = encoder->maxQuantizer = ((100 - quality) * 63 + 50) / 100;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
#endif
}

/// Sets the number of times that a sequence plays, 0 for endless; returns 0 if this version cannot write it.
static inline int vitrine_avif_set_loop_count(avifEncoder *encoder, int count) {
#if AVIF_VERSION >= 1000000
  encoder->repetitionCount = count == 0 ? AVIF_REPETITION_COUNT_INFINITE : count - 1;
  return 1;
#else
  (void)encoder, (void)count;
  return 0;
#endif
}

// These return nothing before libavif 1.0: there, they end the program if there is no memory.

static inline avifResult vitrine_avif_set_exif(avifImage *image, const uint8_t *bytes, size_t count) {
#if AVIF_VERSION >= 1000000
  return avifImageSetMetadataExif(image, bytes, count);
#else
  avifImageSetMetadataExif(image, bytes, count);
  return AVIF_RESULT_OK;
#endif
}

static inline avifResult vitrine_avif_set_xmp(avifImage *image, const uint8_t *bytes, size_t count) {
#if AVIF_VERSION >= 1000000
  return avifImageSetMetadataXMP(image, bytes, count);
#else
  avifImageSetMetadataXMP(image, bytes, count);
  return AVIF_RESULT_OK;
#endif
}

/// Leaves the orientation to the pixels: some versions take it from EXIF.
static inline void vitrine_avif_remove_transforms(avifImage *image) { image->transformFlags = AVIF_TRANSFORM_NONE; }

#endif
