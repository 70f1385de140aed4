import VitrineRuntime

/// What a disk has, in bytes.
package struct DiskSpace: Sendable, Hashable {
  /// All of it.
  package var total: Int
  /// What may still be written.
  package var free: Int

  package init(total: Int, free: Int) {
    (self.total, self.free) = (total, free)
  }

  /// What a cache leaves for others: a twentieth of the disk, at least 1 GB, but never more than a fifth of a small one.
  package var reserve: Int { min(max(total / 20, 1 << 30), total / 5) }
}

extension DiskWriter {
  /// The most that the folder may take up now: the limit, or less while others have nearly filled the disk.
  ///
  /// A tenth of the limit remains in any case, since a cache of nothing would only have everything loaded again and again;
  /// the disk itself says when it has no room even for that.
  func currentLimit() -> Int {
    guard let space = folder.files.space(at: folder.path) else { return options.sizeLimit }
    let own = shared.withLock { $0.bytes }
    let possible = own.addingReportingOverflow(space.free - space.reserve).partialValue
    return min(options.sizeLimit, max(options.sizeLimit / 10, possible))
  }
}
