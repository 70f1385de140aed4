// Counts the allocations of the whole process, by replacing malloc and its relatives.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Returns non-zero if allocations can be counted on this system.
bool allocations_are_counted(void);

/// Starts counting from zero, on all threads.
void allocations_begin(void);

/// Stops counting and returns the number of allocations, in all and on this thread.
typedef struct {
  int64_t total;
  int64_t of_thread;
} allocations;
allocations allocations_end(void);
