public import Foundation
import Synchronization

/// The network as tests imagine it.
public struct _NetworkConditions: Equatable, Sendable {
  /// Whether there is a network.
  public var _isSatisfied: Bool
  /// Whether it is expensive.
  public var _isExpensive: Bool
  /// Whether it is in Low Data Mode.
  public var _isConstrained: Bool

  /// Creates conditions, which are those of a good network unless told otherwise.
  public init(_isSatisfied: Bool = true, _isExpensive: Bool = false, _isConstrained: Bool = false) {
    self._isSatisfied = _isSatisfied
    self._isExpensive = _isExpensive
    self._isConstrained = _isConstrained
  }
}

/// The hooks with which tests drive what no test can wait for.
///
/// Both apply to all sessions' connections to one port, so that tests with servers of their own run side by side.
public enum _URLLoading {
  private struct State {
    var offsets: [Int: TimeInterval] = [:]
    var conditions: [Int: _NetworkConditions] = [:]
    var wakers: [ObjectIdentifier: (port: Int, waker: Waker)] = [:]

    func wake(_ port: Int) {
      for entry in wakers.values where entry.port == port { entry.waker.wake() }
    }
  }

  private static let state = Mutex(State())

  /// Moves the clock of all time-outs of loads from the port.
  public static func _advance(by seconds: TimeInterval, port: Int) {
    state.withLock { state in
      state.offsets[port, default: 0] += seconds
      state.wake(port)
    }
  }

  /// Changes the network to the port.
  public static func _setNetwork(_ conditions: _NetworkConditions, port: Int) {
    state.withLock { state in
      state.conditions[port] = conditions
      state.wake(port)
    }
  }

  static func conditions(port: Int) -> _NetworkConditions {
    state.withLock { $0.conditions[port] ?? _NetworkConditions() }
  }

  /// Returns the time of loads from the port.
  static func now(port: Int) -> TimeInterval {
    ProcessInfo.processInfo.systemUptime + state.withLock { $0.offsets[port] ?? 0 }
  }

  static func register(_ waker: Waker, port: Int) {
    state.withLock { $0.wakers[ObjectIdentifier(waker)] = (port, waker) }
  }

  static func unregister(_ waker: Waker) {
    state.withLock { $0.wakers[ObjectIdentifier(waker)] = nil }
  }
}
