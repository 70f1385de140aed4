#ifndef VITRINE_SANDBOX_H
#define VITRINE_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// System calls that are variadic, or that Swift's module of the C library leaves out. Each returns -1 and sets `errno`
// on failure, and is retried when a signal interrupts it.

// Makes anonymous memory of `size` bytes that nobody can resize, and whose seals nobody can change; returns its
// descriptor, which other programs do not inherit. See memfd_create(2).
int vitrine_make_shared_memory(size_t size);

// Sends one message, and with it a descriptor unless that is -1, without waiting.
ssize_t vitrine_send_message(int socket, const void *bytes, size_t count, int descriptor);

// Waits for one message, and receives it and the descriptor that came with it, or -1. A message longer than `count` is an
// error, EMSGSIZE.
ssize_t vitrine_receive_message(int socket, void *bytes, size_t count, int *descriptor);

// Sets the soft limit of another process's memory (RLIMIT_DATA, in bytes) or processor time (RLIMIT_CPU, in seconds).
int vitrine_limit_memory(pid_t process, uint64_t bytes);
int vitrine_limit_processor_time(pid_t process, uint64_t seconds);

// Returns the processor time that a process has used, in nanoseconds.
int64_t vitrine_processor_time(pid_t process);

#endif
