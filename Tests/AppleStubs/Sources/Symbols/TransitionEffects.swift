/// An effect in which layers appear.
public struct AppearSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("appear", choices) }

  /// The same effect with the choice `up`.
  public var up: AppearSymbolEffect { choosing("up", for: "direction") }

  /// The same effect with the choice `down`.
  public var down: AppearSymbolEffect { choosing("down", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: AppearSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: AppearSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> AppearSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == AppearSymbolEffect {
  /// An effect in which layers appear.
  public static var appear: AppearSymbolEffect { AppearSymbolEffect() }
}

/// An effect in which layers disappear.
public struct DisappearSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("disappear", choices) }

  /// The same effect with the choice `up`.
  public var up: DisappearSymbolEffect { choosing("up", for: "direction") }

  /// The same effect with the choice `down`.
  public var down: DisappearSymbolEffect { choosing("down", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: DisappearSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: DisappearSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> DisappearSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == DisappearSymbolEffect {
  /// An effect in which layers disappear.
  public static var disappear: DisappearSymbolEffect { DisappearSymbolEffect() }
}

/// An effect in which the system chooses what moves.
public struct AutomaticSymbolEffect: SymbolEffect, TransitionSymbolEffect, ContentTransitionSymbolEffect {
  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("automatic", [:]) }
}

extension SymbolEffect where Self == AutomaticSymbolEffect {
  /// An effect in which the system chooses what moves.
  public static var automatic: AutomaticSymbolEffect { AutomaticSymbolEffect() }
}

/// An effect in which strokes vanish as if undrawn.
public struct DrawOffSymbolEffect: SymbolEffect, IndefiniteSymbolEffect, TransitionSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("drawOff", choices) }

  /// The same effect with the choice `reversed`.
  public var reversed: DrawOffSymbolEffect { choosing("reversed", for: "path") }

  /// The same effect with the choice `nonReversed`.
  public var nonReversed: DrawOffSymbolEffect { choosing("nonReversed", for: "path") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: DrawOffSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `individually`.
  public var individually: DrawOffSymbolEffect { choosing("individually", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: DrawOffSymbolEffect { choosing("wholeSymbol", for: "layer") }

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

  /// The same effect with the choice `byLayer`.
  public var byLayer: DrawOnSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `individually`.
  public var individually: DrawOnSymbolEffect { choosing("individually", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: DrawOnSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> DrawOnSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == DrawOnSymbolEffect {
  /// An effect in which strokes appear as if drawn.
  public static var drawOn: DrawOnSymbolEffect { DrawOnSymbolEffect() }
}
