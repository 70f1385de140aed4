// CRC-32C with the processor's own instruction, syncing file data, and returning memory, which Swift cannot express on every platform.
#ifndef VITRINE_CACHING_H
#define VITRINE_CACHING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Returns non-zero if the processor has an instruction for CRC-32C.
int vitrine_crc32c_is_native(void);
/// Returns the length in bytes of the blocks that are processed in groups of three.
size_t vitrine_crc32c_block(void);
/// Continues a CRC-32C with `count` more bytes. Requires the instruction. `shift` is four tables of 256 entries, one
/// for each byte of a state from the lowest up: the state after a block of zeros.
uint32_t vitrine_crc32c(uint32_t crc, const void *bytes, size_t count, const uint32_t *shift);
/// Writes the data of an open file to the device, and all that is needed to read it back. -1 sets errno.
int vitrine_sync_data(int file);
/// Reads like pread(2), but only from memory. Returns -1 with EAGAIN if it would have to wait for the device, and
/// always on systems that cannot tell.
ssize_t vitrine_read_cached(int file, void *bytes, size_t count, off_t offset);
/// Returns the free memory of the allocator to the system, if it can.
void vitrine_return_free_memory(void);

#endif
