/// An effect in which layers change their size.
public struct ScaleSymbolEffect: SymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("scale", choices) }

  /// The same effect with the choice `up`.
  public var up: ScaleSymbolEffect { choosing("up", for: "direction") }

  /// The same effect with the choice `down`.
  public var down: ScaleSymbolEffect { choosing("down", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: ScaleSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: ScaleSymbolEffect { choosing("wholeSymbol", for: "layer") }

  private func choosing(_ value: String, for choice: String) -> ScaleSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == ScaleSymbolEffect {
  /// An effect in which layers change their size.
  public static var scale: ScaleSymbolEffect { ScaleSymbolEffect() }
}

/// An effect in which variable layers light up in turn.
public struct VariableColorSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("variableColor", choices) }

  /// The same effect with the choice `cumulative`.
  public var cumulative: VariableColorSymbolEffect { choosing("cumulative", for: "fill") }

  /// The same effect with the choice `iterative`.
  public var iterative: VariableColorSymbolEffect { choosing("iterative", for: "fill") }

  /// The same effect with the choice `reversing`.
  public var reversing: VariableColorSymbolEffect { choosing("reversing", for: "path") }

  /// The same effect with the choice `nonReversing`.
  public var nonReversing: VariableColorSymbolEffect { choosing("nonReversing", for: "path") }

  /// The same effect with the choice `hideInactiveLayers`.
  public var hideInactiveLayers: VariableColorSymbolEffect { choosing("hideInactiveLayers", for: "inactive") }

  /// The same effect with the choice `dimInactiveLayers`.
  public var dimInactiveLayers: VariableColorSymbolEffect { choosing("dimInactiveLayers", for: "inactive") }

  private func choosing(_ value: String, for choice: String) -> VariableColorSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == VariableColorSymbolEffect {
  /// An effect in which variable layers light up in turn.
  public static var variableColor: VariableColorSymbolEffect { VariableColorSymbolEffect() }
}

/// An effect in which layers wiggle.
public struct WiggleSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  private var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("wiggle", choices) }

  /// The same effect with the choice `clockwise`.
  public var clockwise: WiggleSymbolEffect { choosing("clockwise", for: "direction") }

  /// The same effect with the choice `counterClockwise`.
  public var counterClockwise: WiggleSymbolEffect { choosing("counterClockwise", for: "direction") }

  /// The same effect with the choice `left`.
  public var left: WiggleSymbolEffect { choosing("left", for: "direction") }

  /// The same effect with the choice `right`.
  public var right: WiggleSymbolEffect { choosing("right", for: "direction") }

  /// The same effect with the choice `up`.
  public var up: WiggleSymbolEffect { choosing("up", for: "direction") }

  /// The same effect with the choice `down`.
  public var down: WiggleSymbolEffect { choosing("down", for: "direction") }

  /// The same effect with the choice `forward`.
  public var forward: WiggleSymbolEffect { choosing("forward", for: "direction") }

  /// The same effect with the choice `backward`.
  public var backward: WiggleSymbolEffect { choosing("backward", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: WiggleSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: WiggleSymbolEffect { choosing("wholeSymbol", for: "layer") }

  /// The same effect along an angle, in degrees.
  public func custom(angle: Double) -> WiggleSymbolEffect { choosing("\(angle)", for: "direction") }

  private func choosing(_ value: String, for choice: String) -> WiggleSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == WiggleSymbolEffect {
  /// An effect in which layers wiggle.
  public static var wiggle: WiggleSymbolEffect { WiggleSymbolEffect() }
}
