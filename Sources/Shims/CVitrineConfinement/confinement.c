#define _GNU_SOURCE
#include "vitrine_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#if !__has_include(<seccomp.h>)
#error "Headers are missing: apt-get install libseccomp-dev"
#endif
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int vitrine_close_descriptors(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return 0;
#endif
  long limit = sysconf(_SC_OPEN_MAX);
  for (long descriptor = first; descriptor < limit && descriptor < 65536; descriptor++) close((int)descriptor);
  return limit < 0 ? errno : 0;
}

int vitrine_give_up_privileges(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

int vitrine_leave_namespaces(void) {
  return unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0 ? 0 : errno;
}

// Landlock's interface, which the headers of Debian 12 know only in part (Documentation/userspace-api/landlock.rst).
struct ruleset {
  uint64_t files;
  uint64_t ports;
  uint64_t scopes;
};
struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

int vitrine_forbid_files(const char *const *readable, size_t count, int *version) {
  long known = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
  *version = known < 0 ? 0 : (int)known;
  if (known < 0) return errno;
  // 13 rights at first, one more each in versions 2, 3 and 5; ports since version 4, scopes since version 6.
  int rights = 13 + (known >= 2) + (known >= 3) + (known >= 5);
  struct ruleset rules = {(1ull << rights) - 1, 3, 3};
  size_t size = known >= 6 ? 24 : known >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (ruleset < 0) return errno;
  int failure = 0;
  for (size_t index = 0; index < count && !failure; index++) {
    int folder = open(readable[index], O_PATH | O_CLOEXEC);
    if (folder < 0) continue;
    // Reading files, and listing folders.
    struct path_rule rule = {1 << 2 | 1 << 3, folder};
    if (syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0) != 0) failure = errno;
    close(folder);
  }
  if (!failure && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) failure = errno;
  close(ruleset);
  return failure;
}

// Memory, threads, time, and the descriptors that are open.
static const char *const allowed[] = {
  "brk", "madvise", "mremap", "munmap", "membarrier", "futex", "set_robust_list", "rseq", "set_tid_address",
  "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "restart_syscall", "exit", "exit_group",
  "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "clock_gettime", "clock_getres", "clock_nanosleep",
  "nanosleep", "gettimeofday", "time", "getrandom", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid",
  "getrusage", "sysinfo", "uname", "getcpu", "read", "write", "readv", "writev", "recvmsg", "recvfrom", "sendmsg",
  "sendto", "poll", "ppoll", "close", "fstat", "lseek",
};

// For fonts.
static const char *const reading[] = {
  "newfstatat", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64",
  "getdents", "fstatfs", "statfs", "getcwd", "pread64", "fadvise64",
};

// Other programs, other processes, the network, and what changes the system: only code that has been taken over calls these.
static const char *const deadly[] = {
  "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open",
  "pidfd_getfd", "pidfd_send_signal", "process_madvise", "kcmp", "socket", "socketpair", "connect", "bind", "listen",
  "accept", "accept4", "mount", "umount2", "move_mount", "fsopen", "open_tree", "pivot_root", "chroot", "setns",
  "unshare", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
  "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load", "init_module", "finit_module",
  "delete_module", "open_by_handle_at", "swapon", "swapoff", "reboot", "acct", "quotactl", "settimeofday",
  "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt",
  "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset", "personality",
};

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count, struct scmp_arg_cmp *rules) {
  int call = seccomp_syscall_resolve_name(name);
  // Another architecture has no such call, or this libseccomp does not know it.
  if (call == __NR_SCMP_ERROR || call < 0) return 0;
  int status = seccomp_rule_add_array(filter, action, call, count, rules);
  return status == 0 || status == -EEXIST ? 0 : -status;
}

static int add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t count) {
  for (size_t index = 0; index < count; index++) {
    int failure = add(filter, action, names[index], 0, NULL);
    if (failure) return failure;
  }
  return 0;
}

#define ADD_ALL(action, names) \
  if ((failure = add_all(filter, action, names, sizeof names / sizeof *names))) goto end
#define ADD(action, name, ...) \
  do { \
    struct scmp_arg_cmp rules[] = {__VA_ARGS__}; \
    if ((failure = add(filter, action, name, sizeof rules / sizeof *rules, rules))) goto end; \
  } while (0)

int vitrine_filter_calls(bool opens_files) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return ENOMEM;
  int failure = -seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (failure) goto end;
  // By bisection. Only newer versions of libseccomp can do that.
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);

  ADD_ALL(SCMP_ACT_ALLOW, allowed);
  ADD_ALL(SCMP_ACT_KILL_PROCESS, deadly);
  // Glibc then calls `clone`, whose flags a filter can see.
  ADD(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  ADD(SCMP_ACT_ALLOW, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  ADD(SCMP_ACT_KILL_PROCESS, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  // No new code.
  ADD(SCMP_ACT_ALLOW, "mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  ADD(SCMP_ACT_ALLOW, "mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // abort(), and no signals to others.
  ADD(SCMP_ACT_ALLOW, "tgkill", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
  ADD(SCMP_ACT_KILL_PROCESS, "tgkill", SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid()));
  ADD(SCMP_ACT_KILL_PROCESS, "kill");
  ADD(SCMP_ACT_KILL_PROCESS, "tkill");
  ADD(SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
  // Limits may be read.
  ADD(SCMP_ACT_ALLOW, "prlimit64", SCMP_A2(SCMP_CMP_EQ, 0));
  ADD(SCMP_ACT_ALLOW, "getrlimit");
  if (opens_files) {
    ADD_ALL(SCMP_ACT_ALLOW, reading);
    const scmp_datum_t changes = O_ACCMODE | O_CREAT | O_TRUNC;
    ADD(SCMP_ACT_ALLOW, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
    ADD(SCMP_ACT_ALLOW, "open", SCMP_A1(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
    ADD(SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, F_GETFD));
    ADD(SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, F_SETFD));
    ADD(SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, F_GETFL));
  } else {
    // Of a descriptor, and of no path.
    ADD(SCMP_ACT_ALLOW, "newfstatat", SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
  }
  failure = -seccomp_load(filter);

end:
  seccomp_release(filter);
  return failure;
}
