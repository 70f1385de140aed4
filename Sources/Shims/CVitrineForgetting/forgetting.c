#include "vitrine_forgetting.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The allocator under the names that are its own (malloc/malloc.c of glibc). Those that a program defines itself are used by
// all of its libraries (glibc's manual, "Replacing malloc").
extern void __libc_free(void *);
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);

bool vitrine_clears_freed_memory(void) { return true; }

// A block with a mapping of its own goes back to the system, and comes back as zeros. Its header says so.
static bool is_mapped(void *block) { return ((size_t *)block)[-1] & 2; }

void free(void *block) {
  if (block != NULL && !is_mapped(block)) memset(block, 0, malloc_usable_size(block));
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  if (block == NULL || is_mapped(block)) return __libc_realloc(block, size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  size_t usable = malloc_usable_size(block);
  if (size <= usable) {
    // What is cut off stays in place.
    memset((char *)block + size, 0, usable - size);
    return __libc_realloc(block, size);
  }
  void *larger = __libc_malloc(size);
  if (larger == NULL) return NULL;
  memcpy(larger, block, usable);
  free(block);
  return larger;
}

#else

bool vitrine_clears_freed_memory(void) { return false; }

#endif
