#if !__has_include(<avif/avif.h>)
#error "Headers are missing: apt-get install libavif-dev"
#endif

#include <avif/avif.h>

/// The axis of a mirroring, 0 for top to bottom and 1 for left to right: libavif 1.0 renamed the field.
static inline int vitrine_avif_mirror(const avifImage *image) {
#if AVIF_VERSION >= 1000000
  return image->imir.axis;
#else
  return image->imir.mode;
#endif
}
