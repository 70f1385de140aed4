/// An effect in which one symbol takes the place of another.
public struct ReplaceSymbolEffect: SymbolEffect, ContentTransitionSymbolEffect {
  /// The replacement that keeps what both symbols share.
  public struct MagicReplace: SymbolEffect, ContentTransitionSymbolEffect {
    let fallback: ReplaceSymbolEffect

    /// The settings the effect stands for.
    public var configuration: SymbolEffectConfiguration {
      SymbolEffectConfiguration("magicReplace", fallback.choices)
    }
  }

  fileprivate var choices: [String: String] = [:]

  init() {}

  /// The settings the effect stands for.
  public var configuration: SymbolEffectConfiguration { SymbolEffectConfiguration("replace", choices) }

  /// The same effect with the choice `downUp`.
  public var downUp: ReplaceSymbolEffect { choosing("downUp", for: "direction") }

  /// The same effect with the choice `upUp`.
  public var upUp: ReplaceSymbolEffect { choosing("upUp", for: "direction") }

  /// The same effect with the choice `offUp`.
  public var offUp: ReplaceSymbolEffect { choosing("offUp", for: "direction") }

  /// The same effect with the choice `byLayer`.
  public var byLayer: ReplaceSymbolEffect { choosing("byLayer", for: "layer") }

  /// The same effect with the choice `wholeSymbol`.
  public var wholeSymbol: ReplaceSymbolEffect { choosing("wholeSymbol", for: "layer") }

  /// The effect that keeps what both symbols share, or else falls back.
  public func magic(fallback: ReplaceSymbolEffect) -> MagicReplace {
    MagicReplace(fallback: fallback)
  }

  private func choosing(_ value: String, for choice: String) -> ReplaceSymbolEffect {
    var copy = self
    copy.choices[choice] = value
    return copy
  }
}

extension SymbolEffect where Self == ReplaceSymbolEffect {
  /// An effect in which one symbol takes the place of another.
  public static var replace: ReplaceSymbolEffect { ReplaceSymbolEffect() }
}
