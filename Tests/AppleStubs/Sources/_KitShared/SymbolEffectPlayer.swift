import Foundation
import Symbols

/// An effect that an image view was given.
public struct _PlayedSymbolEffect {
  /// The effect.
  public let effect: any SymbolEffect
  /// How it runs.
  public let options: SymbolEffectOptions
  /// Whether it was to be seen moving.
  public let isAnimated: Bool
  /// Whether it is still there.
  public fileprivate(set) var isActive = true
}

/// Plays the symbol effects of an image view on the manual clock.
///
/// One run of an effect takes one second at the usual speed.
@MainActor
public final class _SymbolEffectPlayer {
  /// Every effect the view was given, the oldest first.
  public private(set) var history: [_PlayedSymbolEffect] = []
  private var completions: [Int: (Bool) -> Void] = [:]

  /// Makes a player.
  public init() {}

  /// The effects that are there now.
  public var active: [any SymbolEffect] {
    history.filter(\.isActive).map(\.effect)
  }

  /// Adds an effect.
  ///
  /// One that runs for an event leaves by itself. The completion hears whether it came to its end.
  public func add(
    _ effect: any SymbolEffect,
    options: SymbolEffectOptions,
    animated: Bool,
    completion: ((Bool) -> Void)?,
  ) {
    let number = history.count
    history.append(_PlayedSymbolEffect(effect: effect, options: options, isAnimated: animated))
    completions[number] = completion
    let name = effect.configuration._name
    let stays = ["appear", "disappear", "scale", "drawOn", "drawOff"].contains(name)
    let isDiscrete = effect is any DiscreteSymbolEffect
    let repeats = options._repeats ?? (isDiscrete && name != "bounce")
    var length: TimeInterval = 1
    if repeats, !stays {
      guard let count = options._repeatCount else { return }
      length = Double(count) + Double(max(0, count - 1)) * (options._repeatDelay ?? 0)
    }
    let wait = animated ? length / max(options._speed, 0.001) : 0
    _Clock._current._schedule(after: wait) { [weak self] in
      MainActor.assumeIsolated { self?.end(number, leaves: !stays, finished: true) }
    }
  }

  /// Removes the effects that fit a condition.
  public func remove(where isGone: (any SymbolEffect) -> Bool) {
    for number in history.indices where history[number].isActive && isGone(history[number].effect) {
      end(number, leaves: true, finished: false)
    }
  }

  private func end(_ number: Int, leaves: Bool, finished: Bool) {
    if leaves { history[number].isActive = false }
    completions.removeValue(forKey: number)?(finished)
  }
}
