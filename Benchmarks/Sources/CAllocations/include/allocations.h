// Counts the allocations of the whole process, by defining malloc and its kin in front of the C library's.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Whether allocations can be counted on this system.
bool allocations_are_counted(void);

/// Counts from zero, on all threads.
void allocations_begin(void);

/// Stops counting; returns how many there were, and how many of them were this thread's.
typedef struct {
  int64_t total;
  int64_t of_thread;
} allocations;
allocations allocations_end(void);
