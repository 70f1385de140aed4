// Installs the codecs of the stub of ImageIO when a test program starts.
#ifndef VITRINE_STUB_START_H
#define VITRINE_STUB_START_H

void vitrine_install_stub_codecs(void);

#endif
