package import VitrineCaching
package import VitrineRuntime

/// A way of sharing work with pipelines on other machines; `WorkCoordination` of VitrineTiers is one.
package protocol WorkCoordinating: Sendable {
  /// Waits until the caller may do the work for a key, must do it, or another machine has done it.
  ///
  /// The caller looks into the cache again afterwards: another machine may just have finished.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: The cache in which the machines share results.
  ///   - clock: The pipeline's clock.
  ///   - executor: The executor of tasks; `nil` for Swift's own.
  /// - Returns: The hold on the work; `nil` without one. The caller works alone then, unless it finds the result.
  func enter(
    _ key: CacheKey,
    _ cache: any DataCaching,
    _ clock: any TimeSource,
    _ executor: (any TaskExecutor)?,
  ) async -> (any WorkHold)?

  /// Ends the holds of all machines on the work for a key, and for keys that extend it: the results will be out of date.
  func revoke(extending key: CacheKey) async
}

/// A hold on work that one machine does for all.
package protocol WorkHold: Sendable {
  /// Tells the other machines how the work ended; called once, after the writes for the key.
  func end(_ outcome: WorkOutcome) async
}

/// The end of work that one machine does for all.
package enum WorkOutcome: Sendable {
  /// The result is in the cache.
  case stored
  /// The work failed, or its result stays on this machine: the other machines do the work themselves.
  case unshared
  /// The work was not done: another machine may do it for all.
  case undone
}
