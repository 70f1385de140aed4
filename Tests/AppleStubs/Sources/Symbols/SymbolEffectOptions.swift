/// How an effect runs.
public struct SymbolEffectOptions: Hashable, Sendable {
  /// The speed, where 1 is the usual one.
  public private(set) var _speed = 1.0
  /// Whether the effect repeats, where nothing leaves it to the effect.
  public private(set) var _repeats: Bool?
  /// How often the effect runs, where nothing means without end.
  public private(set) var _repeatCount: Int?
  /// The break between two runs, in seconds.
  public private(set) var _repeatDelay: Double?

  /// The options an effect has by itself.
  public static var `default`: SymbolEffectOptions { SymbolEffectOptions() }

  /// Runs once.
  public static var nonRepeating: SymbolEffectOptions { SymbolEffectOptions().nonRepeating }

  /// Runs once.
  public var nonRepeating: SymbolEffectOptions {
    var copy = self
    copy._repeats = false
    copy._repeatCount = nil
    copy._repeatDelay = nil
    return copy
  }
}
