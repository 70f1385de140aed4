import CoreGraphics
import Foundation
import Symbols

/// How a picture fits.
public enum NSImageScaling: UInt, Sendable {
  /// As large as fits, but not larger than it is.
  case scaleProportionallyDown = 0
  /// Stretched.
  case scaleAxesIndependently = 1
  /// As it is.
  case scaleNone = 2
  /// As large as fits.
  case scaleProportionallyUpOrDown = 3
}

/// A view that somebody can use.
@MainActor
open class NSControl: NSView {
}

/// A view that shows a picture.
@MainActor
open class NSImageView: NSControl {
  /// Every picture that was set, the oldest first.
  public private(set) var _imageHistory: [NSImage?] = []
  /// What plays the symbol effects.
  public let _symbolEffects = _SymbolEffectPlayer()

  /// The picture.
  open var image: NSImage? {
    didSet {
      _imageHistory.append(image)
      if image?.size != oldValue?.size { invalidateIntrinsicContentSize() }
      show()
    }
  }
  /// How the picture fits.
  open var imageScaling = NSImageScaling.scaleProportionallyDown
  /// How bright the picture may show.
  open var preferredImageDynamicRange = NSImageView.defaultPreferredImageDynamicRange

  /// How bright the pictures of new views may show.
  open class var defaultPreferredImageDynamicRange: NSImage.DynamicRange {
    get { sharedRange }
    set { sharedRange = newValue }
  }

  private static var sharedRange = NSImage.DynamicRange.constrainedHigh

  open override var intrinsicContentSize: NSSize {
    image?.size ?? super.intrinsicContentSize
  }

  open override var layer: CALayer? { didSet { show() } }

  private func show() {
    guard let layer else { return }
    layer.contents = image?.cgImage(forProposedRect: nil, context: nil, hints: nil)
  }
}

extension NSImageView {
  /// Adds an effect that goes on until it is removed.
  public func addSymbolEffect(
    _ effect: some IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
  ) {
    _symbolEffects.add(effect, options: options, animated: animated, completion: nil)
  }

  /// Removes all effects.
  public func removeAllSymbolEffects(options: SymbolEffectOptions = .default, animated: Bool = true) {
    _symbolEffects.remove { _ in true }
  }
}
