import VitrineCaching
import VitrineRuntime

/// Tells a reader whether a key was changed while it read, so that an older entry never returns to a faster tier.
final class TierChanges: Sendable {
  /// The state of a key at the beginning of a look-up.
  struct Reading: Sendable {
    fileprivate let key: CacheKey
    fileprivate let generation: Int
    fileprivate let sweeps: Int
  }

  private struct Watch {
    var readers = 0
    var generation = 0
  }

  private struct State {
    /// The keys that are being read.
    var watched: [CacheKey: Watch] = [:]
    /// The keys that are being changed, and by how many.
    var changing: [CacheKey: Int] = [:]
    /// The number of sweeps that have begun or ended, and of those that run.
    var sweeps = 0
    var sweeping = 0
  }

  private let state = Lock(State())

  /// Begins a look-up.
  func begin(_ key: CacheKey) -> Reading {
    state.withLock { state in
      state.watched[key, default: Watch()].readers += 1
      return Reading(key: key, generation: state.watched[key]?.generation ?? 0, sweeps: state.sweeps)
    }
  }

  /// Continues a look-up beside itself, as of the same beginning; each of the two is ended.
  func fork(_ reading: Reading) -> Reading {
    state.withLock { $0.watched[reading.key]?.readers += 1 }
    return reading
  }

  /// Returns true if nothing has changed the key since the look-up began.
  func isCurrent(_ reading: Reading) -> Bool { state.withLock { Self.isCurrent(reading, $0) } }

  /// Ends a look-up.
  ///
  /// - Returns: As ``isCurrent(_:)``.
  @discardableResult
  func end(_ reading: Reading) -> Bool {
    state.withLock { state in
      let isCurrent = Self.isCurrent(reading, state)
      if let index = state.watched.index(forKey: reading.key) {
        state.watched.values[index].readers -= 1
        if state.watched.values[index].readers == 0 { state.watched.remove(at: index) }
      }
      return isCurrent
    }
  }

  private static func isCurrent(_ reading: Reading, _ state: State) -> Bool {
    state.sweeping == 0 && state.sweeps == reading.sweeps && state.changing[reading.key] == nil
      && state.watched[reading.key]?.generation == reading.generation
  }

  /// Begins a change of a key, or of all for `nil`.
  func beginChange(of key: CacheKey?) { change(key, 1) }

  /// Ends a change.
  func endChange(of key: CacheKey?) { change(key, -1) }

  private func change(_ key: CacheKey?, _ step: Int) {
    state.withLock { state in
      guard let key else {
        state.sweeping += step
        return state.sweeps += 1
      }
      if let index = state.watched.index(forKey: key) { state.watched.values[index].generation += 1 }
      let count = (state.changing[key] ?? 0) + step
      state.changing[key] = count == 0 ? nil : count
    }
  }
}
