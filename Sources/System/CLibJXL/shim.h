#if !__has_include(<jxl/decode.h>)
#error "Headers are missing: apt-get install libjxl-dev"
#endif

#include <jxl/decode.h>
#include <jxl/version.h>

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

/// Whether the file names its colours in a way that libjxl can bring pixels to.
static inline int vitrine_jxl_knows_colors(const JxlDecoder *decoder) {
  return JxlDecoderGetColorAsEncodedProfile(decoder, VITRINE_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_ORIGINAL, NULL) ==
         JXL_DEC_SUCCESS;
}
