import VitrineRuntime

/// The size and the free space of a disk, in bytes.
package struct DiskSpace: Sendable, Hashable {
  /// The size of the disk.
  package var total: Int
  /// The space that may still be written.
  package var free: Int

  package init(total: Int, free: Int) {
    (self.total, self.free) = (total, free)
  }

  /// The space to leave free: a twentieth of the disk, at least 1 GB, but at most a fifth of the disk.
  package var reserve: Int { min(max(total / 20, 1 << 30), total / 5) }
}

extension DiskWriter {
  /// Returns the current limit of the folder, which is lower while the disk is nearly full.
  ///
  /// A tenth of the limit remains in any case, since without a cache every image would be loaded again and again. If
  /// the disk lacks even that room, writing fails.
  func currentLimit() -> Int {
    guard let space = folder.files.space(at: folder.path) else { return options.sizeLimit }
    let own = shared.withLock { $0.bytes }
    let possible = own.addingReportingOverflow(space.free - space.reserve).partialValue
    return min(options.sizeLimit, max(options.sizeLimit / 10, possible))
  }
}
