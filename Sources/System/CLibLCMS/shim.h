#if !__has_include(<lcms2.h>)
#error "Headers are missing: apt-get install liblcms2-dev, or brew install little-cms2"
#endif

#include <lcms2.h>

// Macros that Swift cannot read.
static const cmsUInt32Number vitrine_lcms_rgba_8 = TYPE_RGBA_8;
static const cmsUInt32Number vitrine_lcms_cmyk_8 = TYPE_CMYK_8;
static const cmsUInt32Number vitrine_lcms_gray_8 = TYPE_GRAY_8;
static const cmsUInt32Number vitrine_lcms_rgba_16 = TYPE_RGBA_16;
static const cmsUInt32Number vitrine_lcms_cmyk_16 = TYPE_CMYK_16;
