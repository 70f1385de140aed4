/// A check for cancellation and for the time limit, passed to decoders.
public struct DecodeControl: Sendable {
  private let isCancelled: (@Sendable () -> Bool)?
  private let limit: Duration?
  private var start: ContinuousClock.Instant

  package init(isCancelled: (@Sendable () -> Bool)?, timeLimit: Duration?) {
    self.isCancelled = isCancelled
    limit = timeLimit
    start = .now
  }

  /// Returns a control whose time begins now.
  package func restarted() -> DecodeControl {
    var control = self
    control.start = .now
    return control
  }

  /// Throws if the caller has cancelled, whatever the time.
  package func checkCancellation() throws(ImageError) {
    if let isCancelled, isCancelled() { throw ImageError(.cancelled, "cancelled") }
  }

  /// Returns if work may continue; throws if it must stop.
  ///
  /// The check is cheap enough for every few rows.
  ///
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`.
  public func check() throws(ImageError) {
    try checkCancellation()
    if let limit, ContinuousClock.now - start >= limit {
      throw ImageError(.outOfTime, limit: .timeLimit, "decoding took longer than the limit of \(limit)")
    }
  }
}
