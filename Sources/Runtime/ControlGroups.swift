#if os(Linux)
/// The limits of Linux control groups, in either version (cgroups(7)).
package struct ControlGroups {
  /// The groups of this process.
  static let own = ControlGroups(root: "/sys/fs/cgroup", membership: FileContents.text(at: "/proc/self/cgroup") ?? "")

  private let root: String
  private let membership: String

  /// `membership` is the contents of `/proc/self/cgroup`: lines of a number, controllers and a path.
  package init(root: String, membership: String) { (self.root, self.membership) = (root, membership) }

  /// The lowest limit of memory, in bytes, of the group and its ancestors; `nil` if none sets a limit.
  package var memory: Int? {
    limits(of: "memory") { folder, isUnified in
      Self.numbers("\(folder)/\(isUnified ? "memory.max" : "memory.limit_in_bytes")").first
    }
    .min()
  }

  /// The lowest share of processors of the group and its ancestors: 1.5 is the time of one and a half; `nil` if none sets
  /// a limit.
  package var processors: Double? {
    limits(of: "cpu") { folder, isUnified in
      // In microseconds: the time that may be used in a period, and the period.
      let times =
        isUnified
        ? Self.numbers("\(folder)/cpu.max")
        : Self.numbers("\(folder)/cpu.cfs_quota_us") + Self.numbers("\(folder)/cpu.cfs_period_us")
      return times.count == 2 && times[0] > 0 && times[1] > 0 ? Double(times[0]) / Double(times[1]) : nil
    }
    .min()
  }

  private func limits<Limit>(
    of controller: String,
    _ limit: (_ folder: String, _ isUnified: Bool) -> Limit?,
  ) -> [Limit] {
    membership.split(separator: "\n").flatMap { line -> [Limit] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let isUnified = fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains(Substring(controller)) else { return [] }
      var folder = isUnified ? root : "\(root)/\(controller)"
      // In a container the path is often the host's, and the group's own files are at the root.
      return ([""] + fields[2].split(separator: "/")).compactMap { name in
        if !name.isEmpty { folder += "/\(name)" }
        return limit(folder, isUnified)
      }
    }
  }

  /// Returns the numbers at the start of a file, up to the first word that is none.
  private static func numbers(_ path: String) -> [Int] {
    guard let words = FileContents.text(at: path)?.split(whereSeparator: \.isWhitespace) else { return [] }
    return words.prefix { Int($0) != nil }.compactMap { Int($0) }
  }
}
#endif
