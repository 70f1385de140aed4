/// The amount of memory that the process may use.
package enum MemoryLimit {
  /// The machine's memory, or the limit of the process or of a Linux control group if that is lower, in bytes.
  ///
  /// It is read once.
  package static let bytes: Int = {
    let machine = min(ofMachine, ofProcess ?? .max)
    #if os(Linux)
    return min(machine, ControlGroups.own.memory ?? machine)
    #else
    return machine
    #endif
  }()

  /// The machine's memory, in bytes.
  package static var ofMachine: Int { sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) }

  /// The limit of the process's address space; `nil` if there is none.
  package static var ofProcess: Int? {
    var limit = rlimit()
    #if canImport(Glibc)
    let status = unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    #else
    let status = unsafe getrlimit(RLIMIT_AS, &limit)
    #endif
    guard status == 0 else { return nil }
    // The largest numbers stand for no limit.
    return Int(exactly: limit.rlim_cur).flatMap { $0 < 1 << 60 ? $0 : nil }
  }
}
