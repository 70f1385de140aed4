// libjxl, opened when it is first needed. CLibJXL declares its functions.
#ifndef VITRINE_JXL_H
#define VITRINE_JXL_H

/// Opens libjxl, once and before any of its functions is called. Returns NULL, or why it cannot be opened.
const char *vitrine_jxl_open(void);

#endif
