#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(__GLIBC__)

// The C library's own functions, under the names it keeps for programs that replace malloc. Their results may be freed
// by the C library's free, so free is not replaced.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic bool is_counting;
static _Atomic int64_t total;
static _Thread_local int64_t of_thread;

// Outside of a count, an allocation costs one branch more than without this file, so times are measured in separate
// runs.
static inline void count(void) {
  if (!atomic_load_explicit(&is_counting, memory_order_relaxed)) return;
  atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
  of_thread += 1;
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  count();
  void *memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

bool allocations_are_counted(void) { return true; }

void allocations_begin(void) {
  atomic_store(&total, 0);
  of_thread = 0;
  atomic_store(&is_counting, true);
}

allocations allocations_end(void) {
  atomic_store(&is_counting, false);
  return (allocations){atomic_load(&total), of_thread};
}

#else

bool allocations_are_counted(void) { return false; }
void allocations_begin(void) {}
allocations allocations_end(void) { return (allocations){0, 0}; }

#endif
