// Memory that is freed is cleared, in a program that links this.
#ifndef VITRINE_FORGETTING_H
#define VITRINE_FORGETTING_H

#include <stdbool.h>

/// True if freed memory is cleared: with glibc, outside of sanitizers, which bring an allocator of their own.
bool vitrine_clears_freed_memory(void);

#endif
