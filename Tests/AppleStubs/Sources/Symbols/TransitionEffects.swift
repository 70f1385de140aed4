/// An effect in which layers appear.
public struct AppearSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("appear", choices) }
}

/// An effect in which layers disappear.
public struct DisappearSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("disappear", choices) }
}

/// An effect in which the system chooses what moves.
public struct AutomaticSymbolEffect: SymbolEffect, TransitionSymbolEffect, ContentTransitionSymbolEffect {
  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("automatic", [:]) }
}

/// An effect in which strokes vanish as if undrawn.
public struct DrawOffSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("drawOff", choices) }

  /// The same effect with the choice `byLayer`.
  public var byLayer: DrawOffSymbolEffect { choosing("byLayer", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> DrawOffSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == DrawOffSymbolEffect {
  /// An effect in which strokes vanish as if undrawn.
  public static var drawOff: DrawOffSymbolEffect { DrawOffSymbolEffect() }
}

/// An effect in which strokes appear as if drawn.
public struct DrawOnSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("drawOn", choices) }
}

extension SymbolEffect where Self == DrawOnSymbolEffect {
  /// An effect in which strokes appear as if drawn.
  public static var drawOn: DrawOnSymbolEffect { DrawOnSymbolEffect() }
}
