/// An effect in which one symbol takes the place of another.
public struct ReplaceSymbolEffect: SymbolEffect, ContentTransitionSymbolEffect {
  fileprivate var choices: [String: String] = [:]

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("replace", choices) }
}
