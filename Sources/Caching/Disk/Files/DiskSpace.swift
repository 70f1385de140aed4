/// The size and the free space of a disk, in bytes.
package struct DiskSpace: Sendable, Hashable {
  /// The size of the disk.
  package var total: Int
  /// The space that may still be written.
  package var free: Int

  /// The space to leave free: a twentieth of the disk, at least 1 GB, but at most a fifth of the disk.
  package var reserve: Int { min(max(total / 20, 1 << 30), total / 5) }
}
