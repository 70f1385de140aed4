#if !__has_include(<gif_lib.h>)
#error "Headers are missing: apt-get install libgif-dev, or brew install giflib"
#endif

#include <gif_lib.h>
