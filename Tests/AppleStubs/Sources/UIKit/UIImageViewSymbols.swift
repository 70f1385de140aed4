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
  /// Adds an effect that goes on until it is removed.
  public func addSymbolEffect(
    _ effect: some IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
    completion: UISymbolEffectCompletion? = nil,
  ) {
    play(effect, options, animated, completion)
  }

  /// Removes all effects.
  public func removeAllSymbolEffects(options: SymbolEffectOptions = .default, animated: Bool = true) {
    _symbolEffects.remove { _ in true }
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
}
