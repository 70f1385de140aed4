/// How an effect runs.
public struct SymbolEffectOptions: Hashable, Sendable {
  /// How an effect repeats.
  public struct RepeatBehavior: Hashable, Sendable {
    let count: Int?
    let delay: Double?
    let isContinuous: Bool

    /// Without a break.
    public static var continuous: RepeatBehavior { RepeatBehavior(count: nil, delay: nil, isContinuous: true) }

    /// With breaks.
    public static var periodic: RepeatBehavior { periodic() }

    /// With breaks, some times over.
    public static func periodic(_ count: Int? = nil, delay: Double? = nil) -> RepeatBehavior {
      RepeatBehavior(count: count, delay: delay, isContinuous: false)
    }
  }

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

  /// Repeats.
  public static var repeating: SymbolEffectOptions { SymbolEffectOptions().repeating }

  /// Runs once.
  public static var nonRepeating: SymbolEffectOptions { SymbolEffectOptions().nonRepeating }

  /// Repeats some times over.
  public static func `repeat`(_ count: Int?) -> SymbolEffectOptions {
    SymbolEffectOptions().repeat(count)
  }

  /// Repeats in a given manner.
  public static func `repeat`(_ behavior: RepeatBehavior) -> SymbolEffectOptions {
    SymbolEffectOptions().repeat(behavior)
  }

  /// Runs at a speed, where 1 is the usual one.
  public static func speed(_ speed: Double) -> SymbolEffectOptions {
    SymbolEffectOptions().speed(speed)
  }

  /// Repeats.
  public var repeating: SymbolEffectOptions { self.repeat(nil) }

  /// Runs once.
  public var nonRepeating: SymbolEffectOptions {
    var copy = self
    copy._repeats = false
    copy._repeatCount = nil
    copy._repeatDelay = nil
    return copy
  }

  /// Repeats some times over.
  public func `repeat`(_ count: Int?) -> SymbolEffectOptions {
    var copy = self
    copy._repeats = true
    copy._repeatCount = count
    copy._repeatDelay = nil
    return copy
  }

  /// Repeats in a given manner.
  public func `repeat`(_ behavior: RepeatBehavior) -> SymbolEffectOptions {
    var copy = self
    copy._repeats = true
    copy._repeatCount = behavior.count
    copy._repeatDelay = behavior.delay
    return copy
  }

  /// Runs at a speed, where 1 is the usual one.
  public func speed(_ speed: Double) -> SymbolEffectOptions {
    var copy = self
    copy._speed = speed
    return copy
  }
}
