import Foundation
import Symbols

/// What the completion of a symbol effect is told.
open class UISymbolEffectCompletionContext: NSObject {
  /// The view.
  public let sender: AnyObject?
  /// The effect.
  public let effect: (any SymbolEffect)?
  /// The transition.
  public let contentTransition: (any ContentTransitionSymbolEffect & SymbolEffect)?
  /// Whether it came to its end.
  public let isFinished: Bool

  init(
    sender: AnyObject?,
    effect: (any SymbolEffect)?,
    contentTransition: (any ContentTransitionSymbolEffect & SymbolEffect)?,
    isFinished: Bool,
  ) {
    self.sender = sender
    self.effect = effect
    self.contentTransition = contentTransition
    self.isFinished = isFinished
  }
}

/// What runs when a symbol effect has ended.
public typealias UISymbolEffectCompletion = (UISymbolEffectCompletionContext) -> Void

extension UIImageView {
  /// Adds an effect that runs once for an event.
  public func addSymbolEffect(
    _ effect: some DiscreteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    play(effect, options, animated, completion)
  }

  /// Adds an effect that goes on until it is removed.
  public func addSymbolEffect(
    _ effect: some IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    play(effect, options, animated, completion)
  }

  /// Adds an effect that can do both.
  public func addSymbolEffect(
    _ effect: some DiscreteSymbolEffect & IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    play(effect, options, animated, completion)
  }

  /// Removes the effects of the same kind.
  public func removeSymbolEffect(
    ofType effect: some DiscreteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    remove(effect, completion)
  }

  /// Removes the effects of the same kind.
  public func removeSymbolEffect(
    ofType effect: some IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    remove(effect, completion)
  }

  /// Removes the effects of the same kind.
  public func removeSymbolEffect(
    ofType effect: some DiscreteSymbolEffect & IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    remove(effect, completion)
  }

  /// Removes all effects.
  public func removeAllSymbolEffects(options: SymbolEffectOptions = .default, animated: Bool = true) {
    _symbolEffects.remove { _ in true }
  }

  /// Puts another symbol in place of the one that shows.
  ///
  /// The view has it at once. The transition takes one second at the usual speed.
  public func setSymbolImage(
    _ image: UIImage,
    contentTransition: some ContentTransitionSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    self.image = image
    _symbolEffects.replace(contentTransition, options: options) { [weak self] finished in
      completion?(
        UISymbolEffectCompletionContext(
          sender: self,
          effect: nil,
          contentTransition: contentTransition,
          isFinished: finished,
        )
      )
    }
  }

  private func play(
    _ effect: any SymbolEffect,
    _ options: SymbolEffectOptions,
    _ animated: Bool,
    _ completion: UISymbolEffectCompletion?,
  ) {
    _symbolEffects.add(effect, options: options, animated: animated) { [weak self] finished in
      completion?(
        UISymbolEffectCompletionContext(sender: self, effect: effect, contentTransition: nil, isFinished: finished)
      )
    }
  }

  private func remove(_ effect: any SymbolEffect, _ completion: UISymbolEffectCompletion?) {
    _symbolEffects.remove { type(of: $0) == type(of: effect) }
    completion?(
      UISymbolEffectCompletionContext(sender: self, effect: effect, contentTransition: nil, isFinished: true)
    )
  }
}
