// libavif, opened when it is first needed. CLibAVIF declares its functions.
#ifndef VITRINE_AVIF_H
#define VITRINE_AVIF_H

/// Opens libavif, once and before any of its functions is called. Returns NULL, or why it cannot be opened.
const char *vitrine_avif_open(void);

#endif
