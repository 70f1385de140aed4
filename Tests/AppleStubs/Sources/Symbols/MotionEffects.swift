/// An effect in which layers bounce.
public struct BounceSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("bounce", choices) }

  /// The same effect with the choice `up`.
  public var up: BounceSymbolEffect { choosing("up", for: "direction") }

  /// The same effect with the choice `down`.
  public var down: BounceSymbolEffect { choosing("down", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: BounceSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: BounceSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> BounceSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == BounceSymbolEffect {
  /// An effect in which layers bounce.
  public static var bounce: BounceSymbolEffect { BounceSymbolEffect() }
}

/// An effect in which layers breathe.
public struct BreatheSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("breathe", choices) }

  /// The same effect with the choice `plain`.
  public var plain: BreatheSymbolEffect { choosing("plain", for: "style") }

  /// The same effect with the choice `pulse`.
  public var pulse: BreatheSymbolEffect { choosing("pulse", for: "style") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: BreatheSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: BreatheSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> BreatheSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == BreatheSymbolEffect {
  /// An effect in which layers breathe.
  public static var breathe: BreatheSymbolEffect { BreatheSymbolEffect() }
}

/// An effect in which layers pulse.
public struct PulseSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("pulse", choices) }

  /// The same effect with the choice `byLayer`.
  public var byLayer: PulseSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: PulseSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> PulseSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == PulseSymbolEffect {
  /// An effect in which layers pulse.
  public static var pulse: PulseSymbolEffect { PulseSymbolEffect() }
}

/// An effect in which layers turn.
public struct RotateSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("rotate", choices) }

  /// The same effect with the choice `clockwise`.
  public var clockwise: RotateSymbolEffect { choosing("clockwise", for: "direction") }

  /// The same effect with the choice `counterClockwise`.
  public var counterClockwise: RotateSymbolEffect { choosing("counterClockwise", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: RotateSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: RotateSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> RotateSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == RotateSymbolEffect {
  /// An effect in which layers turn.
  public static var rotate: RotateSymbolEffect { RotateSymbolEffect() }
}
