#include "start.h"

// Before `main`, so that no test begins without them.
__attribute__((constructor)) static void start(void) { vitrine_install_stub_codecs(); }
