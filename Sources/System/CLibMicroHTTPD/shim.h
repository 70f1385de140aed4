#if !__has_include(<microhttpd.h>)
#error "Headers are missing: apt-get install libmicrohttpd-dev"
#endif

#include <microhttpd.h>
