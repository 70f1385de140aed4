/// A check for cancellation and for the time limit, passed to decoders.
public struct DecodeControl: Sendable {
  private let isCancelled: (@Sendable () -> Bool)?
  private let limit: Duration?
  private let start: ContinuousClock.Instant

  package init(isCancelled: (@Sendable () -> Bool)?, timeLimit: Duration?) {
    self.isCancelled = isCancelled
    limit = timeLimit
    start = .now
  }

  /// Returns if work may continue; throws if it must stop.
  ///
  /// The check is cheap enough for every few rows.
  ///
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`.
  public func check() throws(ImageError) {
    if let isCancelled, isCancelled() { throw ImageError(.cancelled, "cancelled") }
    if let limit, ContinuousClock.now - start >= limit {
      throw ImageError(.outOfTime, limit: .timeLimit, "decoding took longer than the limit of \(limit)")
    }
  }
}
