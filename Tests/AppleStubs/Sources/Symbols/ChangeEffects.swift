/// An effect in which layers change their size.
public struct ScaleSymbolEffect: SymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("scale", choices) }
}

/// An effect in which variable layers light up in turn.
public struct VariableColorSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("variableColor", choices) }
}

/// An effect in which layers wiggle.
public struct WiggleSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("wiggle", choices) }
}
