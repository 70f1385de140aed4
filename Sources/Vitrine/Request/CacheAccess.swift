/// The caches that a request may read and write.
///
/// ```swift
/// request.cacheAccess = .memory                 // nothing of it reaches the disk
/// request.cacheAccess.remove(.memoryWrites)     // shown once, so it evicts nothing
/// request.cacheAccess = .none                   // as if there were no caches
/// ```
/// ``ImageRequest/cachePolicy`` decides how old cached data may be, ``ImageRequest/storagePolicy`` which forms are
/// stored on disk. Access to a cache that the pipeline lacks has no effect.
///
/// Requests that differ in access to the disk do not share a transfer, and requests that differ at all do not share an
/// image. Equal requests share running work even with ``none``.
///
/// A response always applies to cached data, so that no outdated image is served: changed bytes remove images made from
/// the old ones, unchanged bytes renew images in memory, and entries that are damaged or not images are removed.
/// Failures are remembered, too, according to ``PipelineConfiguration/remembersFailures``, in memory and without
/// a byte of the body.
public struct CacheAccess: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Reading from memory.
  ///
  /// Without it, memory supplies no image, no larger variant, no result of the first processors, no stale image for a
  /// failing server and no placeholder; ``ImagePipeline/cachedImage(for:)`` and ``ImagePipeline/cachedVariant(for:)``
  /// return `nil`.
  public static let memoryReads = CacheAccess(rawValue: 1)

  /// Writing to memory: the image, and the result of each processor.
  ///
  /// Without it, nothing is added; earlier images of the request stay, unless the response brings other bytes.
  public static let memoryWrites = CacheAccess(rawValue: 2)

  /// Reading from ``PipelineConfiguration/diskCache``, even if that is a `MemoryDataCache`.
  ///
  /// Without it, the data cache supplies no original, no finished image, no partial download and no stale image for a
  /// failing server. An image that is not in memory is fetched whole and unconditionally; with `.cacheOnly` it fails.
  public static let diskReads = CacheAccess(rawValue: 4)

  /// Writing to ``PipelineConfiguration/diskCache``, in the forms of ``ImageRequest/storagePolicy``.
  ///
  /// Without it, nothing is written there: no original, no finished image, no partial download, no renewal. A download
  /// ends when its last caller leaves, even with ``ImageRequest/continuesDownload``.
  public static let diskWrites = CacheAccess(rawValue: 8)

  /// Reading from and writing to memory.
  public static let memory: CacheAccess = [.memoryReads, .memoryWrites]

  /// Reading from and writing to the disk cache.
  public static let disk: CacheAccess = [.diskReads, .diskWrites]

  /// All access, the default of a request.
  public static let all: CacheAccess = [.memory, .disk]

  /// No access.
  public static let none: CacheAccess = []
}

extension CacheAccess: CustomStringConvertible {
  /// The names of its members, `memoryReads, diskReads`; `none` without any.
  public var description: String {
    let names: [(CacheAccess, String)] = [
      (.memoryReads, "memoryReads"), (.memoryWrites, "memoryWrites"), (.diskReads, "diskReads"),
      (.diskWrites, "diskWrites"),
    ]
    let members = names.filter { contains($0.0) }.map(\.1)
    return members.isEmpty ? "none" : members.joined(separator: ", ")
  }
}
