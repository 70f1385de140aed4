import CLibSeccomp
import VitrineRuntime

/// The system calls that a confined process may make.
///
/// A list of what is allowed: a call of a later kernel is forbidden. A forbidden call fails with `EPERM`, since
/// libraries try calls that they can do without. A call that only an attacker makes ends the process with `SIGSYS`.
enum SystemCalls {
  /// Memory, threads, time, and the descriptors that are open.
  private static let allowed = [
    "brk", "madvise", "mremap", "munmap", "membarrier", "futex", "set_robust_list", "rseq", "set_tid_address",
    "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "restart_syscall", "exit", "exit_group",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "clock_gettime", "clock_getres", "clock_nanosleep",
    "nanosleep", "gettimeofday", "time", "getrandom", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid",
    "getrusage", "getrlimit", "sysinfo", "uname", "getcpu", "read", "write", "readv", "writev", "recvmsg", "recvfrom",
    "sendmsg", "sendto", "poll", "ppoll", "close", "fstat", "lseek",
  ]

  /// Reading files: fonts.
  private static let reading = [
    "newfstatat", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64",
    "getdents", "fstatfs", "statfs", "getcwd", "pread64", "fadvise64",
  ]

  /// Other programs, other processes, the network, and changes to the system.
  private static let fatal = [
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "process_madvise", "kcmp", "kill", "tkill", "socket", "socketpair", "connect",
    "bind", "listen", "accept", "accept4", "mount", "umount2", "move_mount", "fsopen", "open_tree", "pivot_root",
    "chroot", "setns", "unshare", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "open_by_handle_at", "swapon", "swapoff", "reboot", "acct", "quotactl",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm",
    "modify_ldt", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset",
    "personality",
  ]

  /// Forbids all other calls to the calling thread, and to those that it starts.
  ///
  /// - Parameter opensFiles: True if files may be opened for reading, as far as other layers allow that.
  /// - Returns: 0, or the system's error.
  static func filter(opensFiles: Bool) -> Int32 {
    guard let rules = Rules() else { return ENOMEM }
    for name in allowed + (opensFiles ? reading : []) { rules.add(SCMP_ACT_ALLOW, name) }
    for name in fatal { rules.add(SCMP_ACT_KILL_PROCESS, name) }
    // Glibc then calls `clone`, whose flags can be compared.
    rules.add(error(ENOSYS), "clone3")
    rules.add(SCMP_ACT_ALLOW, "clone", .mask(0, threadFlag, is: threadFlag))
    rules.add(SCMP_ACT_KILL_PROCESS, "clone", .mask(0, threadFlag, is: 0))
    // No new code.
    rules.add(SCMP_ACT_ALLOW, "mmap", .mask(2, PROT_EXEC, is: 0))
    rules.add(SCMP_ACT_ALLOW, "mprotect", .mask(2, PROT_EXEC, is: 0))
    // For abort(); no signals to other processes.
    rules.add(SCMP_ACT_ALLOW, "tgkill", .equal(0, getpid()))
    rules.add(SCMP_ACT_KILL_PROCESS, "tgkill", .unequal(0, getpid()))
    // The names of threads.
    rules.add(SCMP_ACT_ALLOW, "prctl", .equal(0, 15))
    // Limits may be read: there are no new ones.
    rules.add(SCMP_ACT_ALLOW, "prlimit64", .equal(2, 0))
    if opensFiles {
      let changes = O_ACCMODE | O_CREAT | O_TRUNC
      rules.add(SCMP_ACT_ALLOW, "openat", .mask(2, changes, is: O_RDONLY))
      rules.add(SCMP_ACT_ALLOW, "open", .mask(1, changes, is: O_RDONLY))
      for command in [F_GETFD, F_SETFD, F_GETFL] { rules.add(SCMP_ACT_ALLOW, "fcntl", .equal(1, command)) }
    } else {
      // Of a descriptor, and of no path: AT_EMPTY_PATH.
      rules.add(SCMP_ACT_ALLOW, "newfstatat", .mask(3, 0x1000, is: 0x1000))
    }
    return rules.load()
  }

  /// CLONE_THREAD.
  private static let threadFlag: Int32 = 0x10000

  /// SCMP_ACT_ERRNO, a macro.
  fileprivate static func error(_ code: Int32) -> UInt32 { 0x50000 | UInt32(code) }
}

/// A filter of libseccomp while its rules are added.
@safe
private final class Rules {
  // Owned: made in init, released in deinit.
  private let filter: scmp_filter_ctx
  /// The first error.
  private var failure: Int32 = 0

  init?() {
    guard let filter = unsafe seccomp_init(SystemCalls.error(EPERM)) else { return nil }
    unsafe self.filter = filter
    failure = unsafe -seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)
    // By bisection, where this version of libseccomp can do that.
    unsafe seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)
  }

  deinit { unsafe seccomp_release(filter) }

  /// Adds a rule for a call, or for those calls that meet a condition.
  func add(_ action: UInt32, _ name: String, _ condition: scmp_arg_cmp? = nil) {
    let call = unsafe seccomp_syscall_resolve_name(name)
    // Other architectures do not have each call, and older versions of libseccomp do not know each.
    guard failure == 0, call >= 0 else { return }
    let conditions = condition.map { [$0] } ?? []
    // The array outlives the call.
    let status = unsafe seccomp_rule_add_array(filter, action, call, UInt32(conditions.count), conditions)
    if status != 0, status != -EEXIST { failure = -status }
  }

  func load() -> Int32 { failure != 0 ? failure : unsafe -seccomp_load(filter) }
}

extension scmp_arg_cmp {
  static func equal(_ argument: UInt32, _ value: Int32) -> scmp_arg_cmp {
    scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: bits(value), datum_b: 0)
  }

  static func unequal(_ argument: UInt32, _ value: Int32) -> scmp_arg_cmp {
    scmp_arg_cmp(arg: argument, op: SCMP_CMP_NE, datum_a: bits(value), datum_b: 0)
  }

  /// Compares the bits of a mask.
  static func mask(_ argument: UInt32, _ mask: Int32, is value: Int32) -> scmp_arg_cmp {
    scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: bits(mask), datum_b: bits(value))
  }

  private static func bits(_ value: Int32) -> scmp_datum_t { scmp_datum_t(UInt32(bitPattern: value)) }
}
