// The rights that a process can give up for ever on Linux, one function a layer. Each is a few system calls, some with
// structures of the kernel's, or libseccomp, whose functions take variadic arguments. The layer makes no decisions but the
// list of system calls.
#ifndef VITRINE_CONFINEMENT_H
#define VITRINE_CONFINEMENT_H

#include <stdbool.h>
#include <stddef.h>

// Each returns 0, or an errno: ENOSYS or EOPNOTSUPP where the kernel does not have the layer. To be called in this order,
// before the process has a second thread.

/// Closes all descriptors from `first` on.
int vitrine_close_descriptors(unsigned first);

/// Forbids new privileges by starting programs, other processes' looks at its memory, and core dumps.
int vitrine_give_up_privileges(void);

/// Leaves the network, System V IPC and host name of the system for empty ones of its own.
int vitrine_leave_namespaces(void);

/// Forbids all files, TCP ports, and signals to other processes by Landlock. Folders that do not exist are left out.
///
/// - readable: The folders whose files may be read.
/// - version: Receives the version of Landlock, or 0.
int vitrine_forbid_files(const char *const *readable, size_t count, int *version);

/// Forbids all system calls but those that decoders need, by seccomp.
///
/// What no decoder has a reason for ends the process with SIGSYS; the rest fails with EPERM.
///
/// - opens_files: Whether files may be opened for reading, so far as the layers before allow it.
int vitrine_filter_calls(bool opens_files);

#endif
