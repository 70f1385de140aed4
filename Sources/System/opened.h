// A library that is opened when it is first needed: linked, libheif and librsvg cost each start of a program four to six
// milliseconds.
#ifndef VITRINE_OPENED_H
#define VITRINE_OPENED_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "renamed.h"

// Arguments stay where they are, so that no signature is repeated here, and that of another version is right, too.
#if defined(__x86_64__)
#define VITRINE_JUMP(NAME) "jmp *vitrine_at_" #NAME "(%rip)\n"
#elif defined(__aarch64__)
#define VITRINE_JUMP(NAME) \
  "adrp x16, vitrine_at_" #NAME "\n" \
  "ldr x16, [x16, :lo12:vitrine_at_" #NAME "]\n" \
  "br x16\n"
#else
#error "A jump is missing for this processor"
#endif

/// Defines a renamed function, which jumps to that of the library.
#define VITRINE_FUNCTION(NAME) \
  __attribute__((visibility("hidden"))) void *vitrine_at_##NAME = (void *)abort; \
  __asm__( \
      ".pushsection .text\n" \
      ".globl vitrine_" #NAME "\n" \
      ".hidden vitrine_" #NAME "\n" \
      ".type vitrine_" #NAME ", %function\n" \
      "vitrine_" #NAME ":\n" \
      ".cfi_startproc\n" VITRINE_JUMP(NAME) ".cfi_endproc\n" \
      ".size vitrine_" #NAME ", . - vitrine_" #NAME "\n" \
      ".popsection\n");

#define VITRINE_ENTRY(NAME) {#NAME, &vitrine_at_##NAME},

struct vitrine_entry {
  const char *name;
  void **place;
};

/// Opens a library and finds its functions. Returns NULL, or why not.
static const char *vitrine_open(const char *library, const struct vitrine_entry *entries, size_t count) {
  // Functions are bound as they are called; no other library finds its own functions here.
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return dlerror();
  for (size_t index = 0; index < count; index++) {
    void *found = dlsym(handle, entries[index].name);
    if (!found) return dlerror();
    *entries[index].place = found;
  }
  return NULL;
}

/// Defines the functions of a list, and `OPEN`, which is called once before the first of them.
#define VITRINE_LIBRARY(LIST, OPEN, LIBRARY) \
  LIST(VITRINE_FUNCTION) \
  const char *OPEN(void) { \
    static const struct vitrine_entry entries[] = {LIST(VITRINE_ENTRY)}; \
    return vitrine_open(LIBRARY, entries, sizeof entries / sizeof *entries); \
  }

#define VITRINE_TEXT_OF(VALUE) #VALUE
#define VITRINE_TEXT(VALUE) VITRINE_TEXT_OF(VALUE)

#endif
