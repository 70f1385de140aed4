#if !__has_include(<hiredis/hiredis.h>)
#error "Headers are missing: apt-get install libhiredis-dev"
#endif

#include <hiredis/hiredis.h>
