#if !__has_include(<pango/pangocairo.h>)
#error "Headers are missing: apt-get install libpango1.0-dev"
#endif

#include <pango/pangocairo.h>
