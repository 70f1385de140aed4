#pragma once
#include <stddef.h>
#include <stdint.h>

/// libFuzzer without a main of its own: gives `callback` inputs until it ends the process.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
