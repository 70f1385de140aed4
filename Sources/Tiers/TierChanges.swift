import VitrineCaching
import VitrineRuntime

/// The changes during look-ups, which are tracked so that an older entry never returns to a faster tier.
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
    /// The keys that are being changed, each with the number of its changes.
    var changing: [CacheKey: Int] = [:]
    /// The number of sweeps that have begun or ended; below it, the number of running sweeps.
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

  /// Adds a second look-up with the same beginning.
  ///
  /// Both must be ended.
  func fork(_ reading: Reading) -> Reading {
    state.withLock { $0.watched[reading.key]?.readers += 1 }
    return reading
  }

  /// Returns `true` if the key has not changed since the look-up began.
  func isCurrent(_ reading: Reading) -> Bool { state.withLock { Self.isCurrent(reading, $0) } }

  /// Ends a look-up.
  ///
  /// - Returns: `true` if the key has not changed since the look-up began.
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

  /// Begins a change of a key, or of all keys for `nil`.
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
