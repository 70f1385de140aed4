#if !os(watchOS)
public import Symbols
public import Vitrine
#if os(macOS) || os(Linux)
public import AppKit
#endif
#if !os(macOS)
public import UIKit
#endif

/// A symbol of the system with its whole configuration, to stand for an image that is loading or has failed.
///
/// ```swift
/// let loading = Symbol("photo", configuration: .init(textStyle: .title1), effects: [Symbol.Effect(.pulse)])
/// imageView.vitrine.load(url, placeholder: .symbol(loading), failure: .symbol("photo.badge.exclamationmark"))
/// ```
/// A view's own preferred configuration applies as well; what is set here has precedence.
public struct Symbol: Hashable, Sendable {
  /// An effect that goes on for as long as the symbol is shown.
  public struct Effect: Hashable, Sendable {
    let effect: any IndefiniteSymbolEffect & SymbolEffect
    let options: SymbolEffectOptions

    /// Creates an effect, such as `.pulse`, `.variableColor.iterative` or, where the system has it, `.drawOn`.
    public init(_ effect: some IndefiniteSymbolEffect & SymbolEffect, options: SymbolEffectOptions = .default) {
      (self.effect, self.options) = (effect, options)
    }

    /// Compares the effects and their options.
    public static func == (one: Effect, other: Effect) -> Bool {
      AnyHashable(one.effect) == AnyHashable(other.effect) && one.options == other.options
    }

    /// Hashes the effect.
    public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(effect)) }
  }

  /// The name of the symbol.
  public let name: String
  /// The share of a symbol with a variable value that is filled, from 0 to 1; `nil` for all of it.
  public var variableValue: Double?
  /// The effects, which end when something else is shown.
  public var effects: [Effect]
  /// The configuration of the toolkit's own type; `nil` for the view's.
  let configuration: AnyConfiguration?

  struct AnyConfiguration: Hashable, Sendable {
    let value: any Hashable & Sendable

    static func == (one: Self, other: Self) -> Bool { AnyHashable(one.value) == AnyHashable(other.value) }

    func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
  }

  /// Creates a symbol with the view's configuration.
  public init(_ name: String, variableValue: Double? = nil, effects: [Effect] = []) {
    (self.name, self.variableValue, self.effects, configuration) = (name, variableValue, effects, nil)
  }

  #if !os(macOS)
  /// Creates a symbol with a configuration: point size or text style, weight, scale, colours.
  public init(
    _ name: String,
    configuration: UIImage.SymbolConfiguration,
    variableValue: Double? = nil,
    effects: [Effect] = [],
  ) {
    (self.name, self.variableValue, self.effects) = (name, variableValue, effects)
    self.configuration = AnyConfiguration(value: configuration)
  }
  #endif

  #if os(macOS) || os(Linux)
  /// Creates a symbol with a configuration: point size or text style, weight, scale, colours.
  @_disfavoredOverload
  public init(
    _ name: String,
    configuration: NSImage.SymbolConfiguration,
    variableValue: Double? = nil,
    effects: [Effect] = [],
  ) {
    (self.name, self.variableValue, self.effects) = (name, variableValue, effects)
    self.configuration = AnyConfiguration(value: configuration)
  }
  #endif
}

extension Placeholder {
  /// A symbol of the system with its configuration.
  public static func symbol(_ symbol: Symbol) -> Placeholder { .native(symbol) }

  var symbol: Symbol? {
    if case .native(let value) = self { value as? Symbol } else { nil }
  }
}
#endif
