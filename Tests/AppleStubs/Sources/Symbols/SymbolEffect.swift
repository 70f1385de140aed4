/// An animation of a symbol image.
public protocol SymbolEffect: Hashable, Sendable {
  /// The settings the effect stands for.
  var configuration: SymbolEffectConfiguration { get }
}

/// An effect that goes on until it is removed.
public protocol IndefiniteSymbolEffect {}

/// An effect that runs once for an event.
public protocol DiscreteSymbolEffect {}

/// An effect that shows or hides a symbol.
public protocol TransitionSymbolEffect {}

/// An effect that puts one symbol in the place of another.
public protocol ContentTransitionSymbolEffect {}

/// The settings an effect stands for.
public struct SymbolEffectConfiguration: Hashable, Sendable {
  /// The name of the effect.
  public let _name: String
  /// What was chosen, by the name of the choice.
  public let _choices: [String: String]

  init(_ name: String, _ choices: [String: String]) {
    _name = name
    _choices = choices
  }
}
