// The rights that a process can give up for ever on Linux, one function a layer: system calls that are variadic, that the C
// library does not offer, or that have structures of the kernel's. This layer makes no decisions.
#ifndef VITRINE_CONFINEMENT_H
#define VITRINE_CONFINEMENT_H

#include <stddef.h>

// Each returns 0, or an errno: ENOSYS or EOPNOTSUPP where the kernel does not have the layer. To be called in this order,
// before the process has a second thread.

/// Closes all descriptors from `first` on.
int vitrine_close_descriptors(unsigned first);

/// Forbids new privileges by starting programs, access to its memory for other processes, and core dumps.
int vitrine_give_up_privileges(void);

/// Leaves the network, System V IPC and host name of the system for empty ones of its own.
int vitrine_leave_namespaces(void);

/// Forbids all files, TCP ports, and signals to other processes by Landlock. Folders that do not exist are left out.
///
/// - readable: The folders whose files may be read.
int vitrine_forbid_files(const char *const *readable, size_t count);

#endif
