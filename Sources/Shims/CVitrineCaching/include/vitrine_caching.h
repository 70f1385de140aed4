// CRC-32C by the processor's own instruction, and a sync of file data: what Swift cannot say on every platform.
#ifndef VITRINE_CACHING_H
#define VITRINE_CACHING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Whether the processor has an instruction for CRC-32C.
int vitrine_crc32c_is_native(void);
/// The length of the blocks, in bytes, of which three are taken side by side.
size_t vitrine_crc32c_block(void);
/// Continues a CRC-32C with `count` more bytes; only where the processor has the instruction. `shift` is four tables of 256:
/// what a state becomes through a block of zeros, by each of its bytes, the lowest first.
uint32_t vitrine_crc32c(uint32_t crc, const void *bytes, size_t count, const uint32_t *shift);
/// Has the data of an open file, and what is needed to read it back, written to the device. -1 sets errno.
int vitrine_sync_data(int file);
/// Reads like pread(2), but only what the system has in memory: -1 with EAGAIN where it would have to wait for the device,
/// and always where the system cannot say.
ssize_t vitrine_read_cached(int file, void *bytes, size_t count, off_t offset);

#endif
