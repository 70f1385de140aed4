/// An effect in which layers bounce.
public struct BounceSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("bounce", choices) }
}

/// An effect in which layers breathe.
public struct BreatheSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("breathe", choices) }
}

/// An effect in which layers pulse.
public struct PulseSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("pulse", choices) }
}

extension SymbolEffect where Self == PulseSymbolEffect {
  /// An effect in which layers pulse.
  public static var pulse: PulseSymbolEffect { PulseSymbolEffect() }
}

/// An effect in which layers turn.
public struct RotateSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("rotate", choices) }
}
