#if !__has_include(<libheif/heif.h>)
#error "Headers are missing: apt-get install libheif-dev"
#endif

#include <libheif/heif.h>
