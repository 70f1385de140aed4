import VitrineRuntime

/// The numbers of this process, without its workers, under the names that Prometheus's own clients give them.
enum ProcessMetrics {
  /// Adds each number that the system tells.
  static func add(to text: inout MetricsText) {
    text.single("process_resident_memory_bytes", "gauge", "Resident memory in bytes.", residentBytes)
    text.single("process_cpu_seconds_total", "counter", "User and system CPU time in seconds.", cpuSeconds)
    text.single("process_open_fds", "gauge", "Open file descriptors.", openFiles)
    text.single("process_max_fds", "gauge", "File descriptors that may be open.", mostFiles)
    text.single("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", start)
  }

  private static var residentBytes: Int? {
    guard let text = (try? FileContents.at("/proc/self/statm")).map({ String(decoding: $0, as: UTF8.self) }) else {
      return nil
    }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  private static var cpuSeconds: Double? {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
  }

  private static var openFiles: Int? { try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

  private static var mostFiles: UInt? {
    var limit = rlimit()
    return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt(limit.rlim_cur) : nil
  }

  /// Read once, soon after the start.
  static let start: Double? = (Date().timeIntervalSince1970 * 1_000).rounded() / 1_000
}
