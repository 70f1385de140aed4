import VitrineRuntime

/// The sizes of a ``DiskCache``, all out of its limit.
package struct DiskOptions: Sendable {
  /// The most that the folder takes up, in bytes.
  package var sizeLimit: Int
  /// From which size on a new segment is begun.
  package var segmentSize: Int
  /// The largest body that lies in a segment.
  package var spillThreshold: Int
  /// The largest body that is kept at all.
  package var entryLimit: Int
  /// How many bytes may wait to be written before a store waits too.
  package var stagingLimit = 32 << 20
  /// How long what is written may wait to be synced.
  package var syncInterval = Duration.seconds(1)
  /// Whether the folder is only looked at, so that another cache may write to it: no lock is taken, nothing changed.
  package var readsOnly = false
  /// How long a part of a body may wait for somebody to go on with it, in seconds.
  package static let partialLifetime = 86_400.0
  /// From how many bytes on a part of a body is worth more than the request that it spares.
  package static let partialMinimum = 16 << 10
  /// What the parts of bodies may take up together while nobody goes on with them.
  package var partialShare: Int
  /// After how long an entry that was neither stored nor renewed is gone; never if `nil`.
  package var lifetime: Duration?

  let scores = [EvictionScore(fixedCost: 200_000), EvictionScore(fixedCost: 200_000)]
  /// What originals and finished images may take up of the limit when both want more, in percent.
  let laneShares = [80, 20]

  package init(sizeLimit: Int) {
    self.sizeLimit = max(0, sizeLimit)
    // At 1/32 the copies of one segment are within what the limit may be passed by. Under 32 MB there is no other way
    // than smaller segments.
    segmentSize = min(64 << 20, max(32 << 10, sizeLimit / 32))
    spillThreshold = min(1 << 20, segmentSize / 2)
    entryLimit = min(sizeLimit / 4, Int(UInt32.max) / 2)
    partialShare = sizeLimit / 8
  }
}
