#if !__has_include(<webp/decode.h>)
#error "Headers are missing: apt-get install libwebp-dev, or brew install webp"
#endif

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>
