#include "vitrine_avif.h"

#include "../../System/CLibAVIF/shim.h"
#include "../../System/opened.h"

// The library's name has the version of its binary interface, which the headers do not tell.
#if AVIF_VERSION >= 1000000
#define VITRINE_AVIF_LIBRARY "libavif.so.16"
#elif AVIF_VERSION >= 110000
#define VITRINE_AVIF_LIBRARY "libavif.so.15"
#elif AVIF_VERSION >= 100000
#define VITRINE_AVIF_LIBRARY "libavif.so.14"
#else
#define VITRINE_AVIF_LIBRARY "libavif.so.13"
#endif

VITRINE_LIBRARY(VITRINE_AVIF_FUNCTIONS, vitrine_avif_open, VITRINE_AVIF_LIBRARY)
