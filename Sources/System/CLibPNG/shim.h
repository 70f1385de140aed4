#if !__has_include(<png.h>)
#error "Headers are missing: apt-get install libpng-dev, or brew install libpng"
#endif

#include <png.h>
