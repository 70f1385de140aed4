#if !__has_include(<isa-l/igzip_lib.h>)
#error "Headers are missing: apt-get install libisal-dev"
#endif

#include <isa-l/igzip_lib.h>
