/// Which caches of a pipeline a request is looked for in, and in which it is kept.
///
/// ```swift
/// request.cacheAccess = .memory                 // nothing of it reaches the disk
/// request.cacheAccess.remove(.memoryWrites)     // shown once, so nothing else has to make room for it
/// request.cacheAccess = .none                   // as if there were no cache
/// ```
/// How old what is found may be is the matter of ``ImageRequest/policy``, what is kept on disk that of ``ImageRequest/storage``. A
/// cache that the pipeline does not have changes nothing.
///
/// Requests of different values share no work that would break what one of them says: a transfer where they use the disk alike,
/// an image where they are equal. What is under way for an equal request is shared whatever they say, since it is in no cache yet.
///
/// Whatever a request says, its answer counts for what is there already, so that nobody is served what its server has replaced:
/// other bytes than before drop what was made of the old ones from memory and disk, the same bytes let images in memory be fresh
/// for longer, and what turns out on disk to be damaged or no image is removed. Failures are remembered all the same
/// (``ImagePipeline/Configuration/remembersFailures``), in memory and without a byte of the answer.
public struct CacheAccess: OptionSet, Sendable, Hashable {
  /// The bit of each use.
  public let rawValue: UInt8

  /// Makes a set of the bits of its uses.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// To look for the image in memory.
  ///
  /// Without it neither the image is looked for there, nor a larger one to make it of, nor what its first processors have made, nor one
  /// to stand in for a server that fails, nor another size as a placeholder; ``ImagePipeline/cachedImage(for:)`` and
  /// ``ImagePipeline/cachedVariant(for:)`` return `nil`.
  public static let memoryReads = CacheAccess(rawValue: 1)

  /// To keep the image in memory, and what each of its processors has made.
  ///
  /// Without it nothing is put there; what is there of the same request stays, unless the answer brings other bytes.
  public static let memoryWrites = CacheAccess(rawValue: 2)

  /// To look on disk, or wherever else ``ImagePipeline/Configuration/diskCache`` has its bytes, a `MemoryDataCache` included.
  ///
  /// Without it neither the bytes are looked for there, nor the image as it was shown, nor the beginning of a download that broke
  /// off, nor anything to stand in for a server that fails: what is not in memory is fetched whole, by a request without a
  /// condition. With the policy `.cacheOnly` it fails then.
  public static let diskReads = CacheAccess(rawValue: 4)

  /// To keep on disk, or wherever else ``ImagePipeline/Configuration/diskCache`` has its bytes, what ``ImageRequest/storage`` says.
  ///
  /// Without it nothing is written there: neither the bytes, nor the image as it is shown, nor the beginning of a download that
  /// breaks off, nor that what is there is fresh again. A download whose caller leaves ends then, whatever
  /// ``ImageRequest/continuesDownload`` says.
  public static let diskWrites = CacheAccess(rawValue: 8)

  /// Memory, both ways.
  public static let memory: CacheAccess = [.memoryReads, .memoryWrites]

  /// The disk, both ways.
  public static let disk: CacheAccess = [.diskReads, .diskWrites]

  /// All there is; what requests begin with.
  public static let all: CacheAccess = [.memory, .disk]

  /// Nothing.
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
