#include "vitrine_heif.h"

#include "../../System/CLibHEIF/shim.h"
#include "../../System/opened.h"

VITRINE_LIBRARY(VITRINE_HEIF_FUNCTIONS, vitrine_heif_open, "libheif.so.1")
