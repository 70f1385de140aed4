#if !__has_include(<seccomp.h>)
#error "Headers are missing: apt-get install libseccomp-dev"
#endif

#include <seccomp.h>
