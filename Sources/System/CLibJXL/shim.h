#ifndef VITRINE_CLIBJXL_H
#define VITRINE_CLIBJXL_H

#if !__has_include(<jxl/decode.h>)
#error "Headers are missing: apt-get install libjxl-dev"
#endif

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

#include "../renamed.h"

#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 8, 0)
#define VITRINE_JXL_LATER_FUNCTIONS(F) F(JxlEncoderSetExtraChannelDistance)
#else
#define VITRINE_JXL_LATER_FUNCTIONS(F)
#endif

#define VITRINE_JXL_FUNCTIONS(F) \
  F(JxlColorEncodingSetToSRGB) F(JxlDecoderCreate) F(JxlDecoderDestroy) F(JxlDecoderFlushImage) \
  F(JxlDecoderGetBasicInfo) F(JxlDecoderGetColorAsEncodedProfile) F(JxlDecoderGetColorAsICCProfile) \
  F(JxlDecoderGetFrameHeader) F(JxlDecoderGetICCProfileSize) F(JxlDecoderProcessInput) F(JxlDecoderReleaseInput) \
  F(JxlDecoderSetImageOutBuffer) F(JxlDecoderSetInput) F(JxlDecoderSetKeepOrientation) \
  F(JxlDecoderSetParallelRunner) F(JxlDecoderSetPreferredColorProfile) F(JxlDecoderSetUnpremultiplyAlpha) \
  F(JxlDecoderSkipFrames) F(JxlDecoderSubscribeEvents) F(JxlEncoderAddBox) F(JxlEncoderAddImageFrame) \
  F(JxlEncoderCloseBoxes) F(JxlEncoderCloseInput) F(JxlEncoderCreate) F(JxlEncoderDestroy) \
  F(JxlEncoderFrameSettingsCreate) F(JxlEncoderFrameSettingsSetOption) F(JxlEncoderGetError) \
  F(JxlEncoderInitBasicInfo) F(JxlEncoderInitFrameHeader) F(JxlEncoderProcessOutput) F(JxlEncoderSetBasicInfo) \
  F(JxlEncoderSetColorEncoding) F(JxlEncoderSetFrameDistance) F(JxlEncoderSetFrameHeader) \
  F(JxlEncoderSetFrameLossless) F(JxlEncoderUseBoxes) \
  VITRINE_JXL_LATER_FUNCTIONS(F)

VITRINE_JXL_FUNCTIONS(VITRINE_RENAMED)

// The profile of the pixels that come. libjxl 0.9 dropped a parameter that had no meaning.
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define VITRINE_JXL_UNUSED
#else
#define VITRINE_JXL_UNUSED NULL,
#endif

static inline JxlDecoderStatus vitrine_jxl_profile_size(const JxlDecoder *decoder, size_t *size) {
  return JxlDecoderGetICCProfileSize(decoder, VITRINE_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_DATA, size);
}

static inline JxlDecoderStatus vitrine_jxl_profile(const JxlDecoder *decoder, uint8_t *profile, size_t size) {
  return JxlDecoderGetColorAsICCProfile(decoder, VITRINE_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_DATA, profile, size);
}

/// The curve of the file's colours (`JxlTransferFunction`); -1 if it does not name them in a way that libjxl can bring
/// pixels to.
static inline int vitrine_jxl_curve(const JxlDecoder *decoder) {
  JxlColorEncoding encoding;
  JxlDecoderStatus status =
      JxlDecoderGetColorAsEncodedProfile(decoder, VITRINE_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding);
  return status == JXL_DEC_SUCCESS ? (int)encoding.transfer_function : -1;
}

/// The primaries of a file that names its colours, by the code points of ITU-T H.273; 2 if they have none.
static inline int vitrine_jxl_primaries(const JxlDecoder *decoder) {
  JxlColorEncoding encoding;
  JxlDecoderStatus status =
      JxlDecoderGetColorAsEncodedProfile(decoder, VITRINE_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding);
  if (status != JXL_DEC_SUCCESS || encoding.color_space != JXL_COLOR_SPACE_RGB) return 2;
  switch (encoding.primaries) {
  case JXL_PRIMARIES_SRGB: return 1;
  case JXL_PRIMARIES_2100: return 9;
  case JXL_PRIMARIES_P3: return encoding.white_point == JXL_WHITE_POINT_D65 ? 12 : 11;
  default: return 2;
  }
}

/// Has coverage encoded without loss. libjxl 0.8 has a function for that. Before, coverage loses little if it is not
/// halved again and again (RESPONSIVE, RESAMPLING), and nothing up to a distance of about 1.2.
static inline JxlEncoderStatus vitrine_jxl_keep_alpha(JxlEncoderFrameSettings *settings) {
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 8, 0)
  return JxlEncoderSetExtraChannelDistance(settings, 0, 0);
#else
  JxlEncoderStatus status = JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_RESPONSIVE, 0);
  if (status != JXL_ENC_SUCCESS) return status;
  return JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_RESAMPLING, 1);
#endif
}

/// The reason of the last failure of an encoder.
static inline const char *vitrine_jxl_reason(JxlEncoder *encoder) {
  switch (JxlEncoderGetError(encoder)) {
  case JXL_ENC_ERR_OOM: return "libjxl has not enough memory";
  case JXL_ENC_ERR_BAD_INPUT: return "libjxl refuses the picture";
  case JXL_ENC_ERR_NOT_SUPPORTED: return "libjxl does not support the picture";
  case JXL_ENC_ERR_API_USAGE: return "libjxl does not take the settings";
  default: return "libjxl failed, and gives no details";
  }
}

#endif
