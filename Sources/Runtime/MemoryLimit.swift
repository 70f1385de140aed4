/// The amount of memory that the process may use.
package enum MemoryLimit {
  /// The machine's memory, or the limit of the process or of a Linux control group if that is lower, in bytes.
  ///
  /// It is read once.
  package static let bytes: Int = {
    let machine = min(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)), ofProcess ?? .max)
    #if os(Linux)
    return min(machine, groups(root: "/sys/fs/cgroup", membership: text("/proc/self/cgroup") ?? "") ?? machine)
    #else
    return machine
    #endif
  }()

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

  #if os(Linux)
  /// Returns the lowest limit of the control group and its ancestors, in either version; `nil` if none sets a limit.
  ///
  /// `membership` is the contents of `/proc/self/cgroup`: lines of a number, controllers and a path (cgroups(7)).
  package static func groups(root: String, membership: String) -> Int? {
    var least: Int?
    for line in membership.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isUnified = fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
      let file = isUnified ? "memory.max" : "memory.limit_in_bytes"
      var path = isUnified ? root : root + "/memory"
      // In a container the path is often the host's, and the group's own files are at the root.
      for name in [""] + fields[2].split(separator: "/").map(String.init) {
        if !name.isEmpty { path += "/" + name }
        guard let limit = text("\(path)/\(file)")?.split(separator: "\n").first.flatMap({ Int($0) }) else { continue }
        least = min(least ?? limit, limit)
      }
    }
    return least
  }

  private static func text(_ path: String) -> String? {
    (try? FileContents.at(path)).map { String(decoding: $0, as: UTF8.self) }
  }
  #endif
}
