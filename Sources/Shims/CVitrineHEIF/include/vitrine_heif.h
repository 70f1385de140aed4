// libheif, opened when it is first needed. CLibHEIF declares its functions.
#ifndef VITRINE_HEIF_H
#define VITRINE_HEIF_H

/// Opens libheif, once and before any of its functions is called. Returns NULL, or why it cannot be opened.
const char *vitrine_heif_open(void);

#endif
