#include "vitrine_jxl.h"

#include "../../System/CLibJXL/shim.h"
#include "../../System/opened.h"

VITRINE_LIBRARY(VITRINE_JXL_FUNCTIONS, vitrine_jxl_open, "libjxl.so." VITRINE_TEXT(JPEGXL_MAJOR_VERSION) "." VITRINE_TEXT(JPEGXL_MINOR_VERSION))
