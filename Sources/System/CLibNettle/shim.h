#if !__has_include(<nettle/cbc.h>)
#error "Headers are missing: apt-get install nettle-dev"
#endif

#include <nettle/cbc.h>
#include <nettle/nettle-meta.h>
