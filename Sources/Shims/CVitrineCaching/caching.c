#define _GNU_SOURCE  // preadv2
#include "vitrine_caching.h"

#include <errno.h>
#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define NATIVE __attribute__((target("sse4.2")))
#define STEP8(crc, value) _mm_crc32_u64(crc, value)
#define STEP1(crc, value) _mm_crc32_u8((uint32_t)(crc), value)
int vitrine_crc32c_is_native(void) { return __builtin_cpu_supports("sse4.2") != 0; }
#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
int vitrine_crc32c_is_native(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }  // HWCAP_CRC32
#else
int vitrine_crc32c_is_native(void) { return 1; }
#endif
#define NATIVE __attribute__((target("crc")))
#define STEP8(crc, value) __builtin_arm_crc32cd((uint32_t)(crc), value)
#define STEP1(crc, value) __builtin_arm_crc32cb((uint32_t)(crc), value)
#else
int vitrine_crc32c_is_native(void) { return 0; }
#define NATIVE
#define STEP8(crc, value) (crc)
#define STEP1(crc, value) (crc)
#endif

#define BLOCK 1024

size_t vitrine_crc32c_block(void) { return BLOCK; }

static inline uint64_t load8(const uint8_t *from) {
  uint64_t value;
  memcpy(&value, from, 8);
  return value;
}

static inline uint64_t through_zeros(uint64_t state, const uint32_t *shift) {
  return shift[state & 0xFF] ^ shift[256 + (state >> 8 & 0xFF)] ^ shift[512 + (state >> 16 & 0xFF)] ^
         shift[768 + (state >> 24 & 0xFF)];
}

NATIVE uint32_t vitrine_crc32c(uint32_t crc, const void *bytes, size_t count, const uint32_t *shift) {
  const uint8_t *next = bytes;
  uint64_t state = (uint32_t)~crc;
  for (; count >= 3 * BLOCK; count -= 3 * BLOCK, next += 3 * BLOCK) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < BLOCK; i += 8) {
      state = STEP8(state, load8(next + i));
      second = STEP8(second, load8(next + BLOCK + i));
      third = STEP8(third, load8(next + 2 * BLOCK + i));
    }
    state = through_zeros(through_zeros(state, shift) ^ second, shift) ^ third;
  }
  for (; count >= 8; count -= 8, next += 8) state = STEP8(state, load8(next));
  for (; count > 0; count--, next++) state = STEP1(state, *next);
  return ~(uint32_t)state;
}

int vitrine_sync_data(int file) {
#if defined(__APPLE__)
  return fcntl(file, F_BARRIERFSYNC) == -1 ? fsync(file) : 0;
#else
  return fdatasync(file);
#endif
}

ssize_t vitrine_read_cached(int file, void *bytes, size_t count, off_t offset) {
#if defined(RWF_NOWAIT)
  struct iovec part = {bytes, count};
  return preadv2(file, &part, 1, offset, RWF_NOWAIT);
#else
  errno = EAGAIN;
  return -1;
#endif
}

void vitrine_return_free_memory(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}
