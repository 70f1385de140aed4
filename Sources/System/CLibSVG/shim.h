#if !__has_include(<librsvg/rsvg.h>)
#error "Headers are missing: apt-get install librsvg2-dev"
#endif

#include <librsvg/rsvg.h>
