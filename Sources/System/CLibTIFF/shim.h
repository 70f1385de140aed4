#if !__has_include(<tiffio.h>)
#error "Headers are missing: apt-get install libtiff-dev"
#endif

#include <tiffio.h>
