import VitrineRuntime

/// The sizes of a ``DiskCache``, derived from its limit.
package struct DiskOptions: Sendable {
  /// The maximum size of the folder, in bytes.
  package var sizeLimit: Int
  /// The size at which a new segment is begun, in bytes.
  package var segmentSize: Int
  /// The maximum size of a body in a segment, in bytes.
  package var spillThreshold: Int
  /// The maximum size of an entry, in bytes.
  package var entryLimit: Int
  /// The number of unwritten bytes above which a store waits.
  package var stagingLimit = 32 << 20
  /// The maximum delay between writing and syncing.
  package var syncInterval = Duration.seconds(1)
  /// Set to only read the folder, without its lock, so that another cache may write to it.
  package var readsOnly = false
  /// The lifetime of a partial body that is not resumed, in seconds.
  package static let partialLifetime = 86_400.0
  /// The minimum size of a partial body, in bytes.
  ///
  /// A smaller one is not worth the request that resumes it.
  package static let partialMinimum = 16 << 10
  /// The maximum total size of idle partial bodies, in bytes.
  package var partialShare: Int
  /// The time after storing at which an entry is no longer returned, or `nil` for no limit.
  package var lifetime: Duration?

  let score = EvictionScore(fixedCost: 200_000)
  /// The shares of originals and finished images when the limit is too small for both, in percent.
  let laneShares = [80, 20]

  package init(sizeLimit: Int) {
    self.sizeLimit = max(0, sizeLimit)
    // With 1/32, the copies of one segment stay within the tolerance of the limit. Limits under 32 MB need smaller
    // segments.
    segmentSize = min(64 << 20, max(32 << 10, sizeLimit / 32))
    spillThreshold = min(1 << 20, segmentSize / 2)
    entryLimit = min(sizeLimit / 4, Int(UInt32.max) / 2)
    partialShare = sizeLimit / 8
  }
}
