#if os(Linux)
/// Watches Linux's reports of memory pressure, on one thread that sleeps in between.
package final class MemoryPressureWatcher: Sendable {
  private let observers = MemoryPressureObservers()
  private let hasThread = Lock(false)

  package init() {}

  package func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    let observation = observers.add(body)
    hasThread.withLock { hasThread in
      guard !hasThread else { return }
      hasThread = startThread(named: "vitrine-memory", stackSize: 128 << 10) { [observers] in
        Self.watch(MemoryPressureFiles.system()) { observers.tell($0) }
      }
    }
    return observation
  }

  private static func watch(_ files: MemoryPressureFiles, _ tell: (MemoryPressure) -> Void) -> Never {
    let triggers = files.triggers()
    for trigger in triggers { trigger.rearm() }
    var usage = files.readUsage()
    // Without events, usage is polled.
    let isLooking = triggers.isEmpty || files.hasSilentLimit(usage)
    while true {
      var polled = triggers.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
      // The count is correct, and the array outlives the call.
      let ready = unsafe poll(&polled, nfds_t(polled.count), isLooking ? 5000 : -1)
      for trigger in triggers { trigger.rearm() }
      let now = files.readUsage()
      let woken = ready > 0 ? zip(polled, triggers).filter { $0.0.revents != 0 }.map(\.1.pressure) : []
      if let pressure = MemoryPressureFiles.pressure(woken: woken, before: usage, now: now) { tell(pressure) }
      usage = now
      // Events may come faster than any observer can react.
      if ready != 0 { _ = poll(nil, 0, 1000) }
    }
  }
}

/// Linux's files about memory.
package struct MemoryPressureFiles: Sendable {
  /// The used, allowed and available memory, and the counts of a control group's limit events.
  package struct Usage: Sendable, Hashable {
    /// The memory that the control group uses, in bytes, without reclaimable file pages, and its limit; `nil` without a
    /// limit.
    package var used: Int?
    package var limit: Int?
    /// The available and the total memory of the machine, in bytes.
    package var available: Int?
    package var total: Int?
    /// The number of times that the group was throttled.
    package var high = 0
    /// The number of times that the group reached or exceeded its limit.
    package var max = 0

    package init() {}
  }

  struct Trigger {
    let descriptor: CInt
    /// The pressure that the event reports; `nil` for a group's events, which must be read.
    let pressure: MemoryPressure?

    /// Reads a group's events, which wake the thread through the polled descriptor until they are read.
    func rearm() {
      guard pressure == nil else { return }
      unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { bytes in
        // There is room for the bytes that are read.
        _ = unsafe pread(descriptor, bytes.baseAddress, bytes.count, 0)
      }
    }
  }

  /// The paths of the process's control group, in version 2 and version 1; `nil` if there is none.
  let unified: String?
  let legacy: String?
  let proc: String

  package static func system() -> MemoryPressureFiles {
    MemoryPressureFiles(
      root: "/sys/fs/cgroup",
      membership: FileContents.text(at: "/proc/self/cgroup") ?? "",
      proc: "/proc",
    )
  }

  /// Finds the files of a process whose `/proc/self/cgroup` contains `membership` (cgroups(7)).
  package init(root: String, membership: String, proc: String) {
    self.proc = proc
    var (unified, legacy): (String?, String?)
    for line in membership.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isUnified = fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
      let file = isUnified ? "memory.current" : "memory.usage_in_bytes"
      // In a container the path is often the host's, and the group's own files are at the root.
      let base = isUnified ? root : root + "/memory"
      let found = [base + (fields[2] == "/" ? "" : String(fields[2])), base].first {
        FileContents.text(at: "\($0)/\(file)") != nil
      }
      if isUnified { unified = found } else { legacy = found }
    }
    (self.unified, self.legacy) = (unified, legacy)
  }

  /// Opens the descriptors that wake a polling thread.
  ///
  /// Returns none if the system does not allow it.
  func triggers() -> [Trigger] {
    var triggers: [Trigger] = []
    // Each threshold is a twentieth of the time spent waiting for memory, by some or by all threads. Without privileges
    // only windows of 2 s are allowed.
    for (line, pressure) in [("some 100000 2000000", MemoryPressure.low), ("full 100000 2000000", .critical)] {
      for path in ["\(proc)/pressure/memory"] + (unified.map { ["\($0)/memory.pressure"] } ?? []) {
        let descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { continue }
        // The terminating zero is part of the message.
        if unsafe write(descriptor, line, line.utf8.count + 1) > 0 {
          triggers.append(Trigger(descriptor: descriptor, pressure: pressure))
        } else {
          close(descriptor)
        }
      }
    }
    if let unified {
      let descriptor = unsafe open("\(unified)/memory.events", O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 { triggers.append(Trigger(descriptor: descriptor, pressure: nil)) }
    }
    return triggers
  }

  package func readUsage() -> Usage {
    var usage = Usage()
    if let unified {
      let files = Self.fields("\(unified)/memory.stat")["inactive_file"] ?? 0
      usage.used = Self.number("\(unified)/memory.current").map { $0 - files }
      usage.limit = Self.number("\(unified)/memory.max")
      let events = Self.fields("\(unified)/memory.events")
      usage.high = events["high"] ?? 0
      usage.max = (events["max"] ?? 0) + (events["oom"] ?? 0)
    } else if let legacy {
      let files = Self.fields("\(legacy)/memory.stat")["total_inactive_file"] ?? 0
      usage.used = Self.number("\(legacy)/memory.usage_in_bytes").map { $0 - files }
      usage.limit = Self.number("\(legacy)/memory.limit_in_bytes")
    }
    let machine = Self.fields("\(proc)/meminfo")
    usage.available = machine["MemAvailable:"].map { $0 << 10 }
    usage.total = machine["MemTotal:"].map { $0 << 10 }
    return usage
  }

  /// Returns `true` if the process's group can be full before the machine is and reports no events.
  ///
  /// This is the case in a group of version 1.
  package func hasSilentLimit(_ usage: Usage) -> Bool {
    guard unified == nil, let limit = usage.limit else { return false }
    return limit < usage.total ?? .max
  }

  /// Returns the pressure to report, given the events and the change of usage, or `nil` for none.
  package static func pressure(woken: [MemoryPressure?], before: Usage, now: Usage) -> MemoryPressure? {
    if woken.contains(.critical) || now.max > before.max { return .critical }
    if woken.contains(.low) || now.high > before.high { return .low }
    guard woken.isEmpty else { return nil }
    let left =
      [(now.limit, now.used), (now.total, now.total.flatMap { total in now.available.map { total - $0 } })]
      .compactMap { limit, used -> Double? in
        guard let limit, let used, limit > 0 else { return nil }
        return 1 - Double(used) / Double(limit)
      }
      .min() ?? 1
    return left < 0.03 ? .critical : left < 0.1 ? .low : nil
  }

  private static func number(_ path: String) -> Int? {
    FileContents.text(at: path)?.split(separator: "\n").first.flatMap { Int($0) }
  }

  /// Returns the first number after each name.
  private static func fields(_ path: String) -> [String: Int] {
    var fields: [String: Int] = [:]
    for line in (FileContents.text(at: path) ?? "").split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 1, let number = Int(words[1]) { fields[String(words[0])] = number }
    }
    return fields
  }
}
#endif
