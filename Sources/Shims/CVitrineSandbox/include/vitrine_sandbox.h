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

// Returns the path by which the running program was started, which may be relative, or NULL. It needs no /proc.
const char *vitrine_started_path(void);

// Returns a word of the command line, the program's name at 0, or NULL behind the last. It needs no /proc, in which Swift
// looks for them.
const char *vitrine_argument(int index);

// Sets the soft limit of another process's memory (RLIMIT_DATA, in bytes) or processor time (RLIMIT_CPU, in seconds).
int vitrine_limit_memory(pid_t process, uint64_t bytes);
int vitrine_limit_processor_time(pid_t process, uint64_t seconds);

// Has this process end with the status VITRINE_OUT_OF_MEMORY where a library aborts because it was refused memory: where
// `errno` says so, or an eighth of the limit is not to be had.
void vitrine_end_when_out_of_memory(void);
#define VITRINE_OUT_OF_MEMORY 77

// Returns the processor time that a process has used, in nanoseconds.
int64_t vitrine_processor_time(pid_t process);

#endif
