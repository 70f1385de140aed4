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

/// Where a picture stands.
public enum NSImageAlignment: UInt, Sendable {
  /// In the middle.
  case alignCenter = 0
  /// At the top.
  case alignTop = 1
  /// At the top left.
  case alignTopLeft = 2
  /// At the top right.
  case alignTopRight = 3
  /// At the left.
  case alignLeft = 4
  /// At the bottom.
  case alignBottom = 5
  /// At the bottom left.
  case alignBottomLeft = 6
  /// At the bottom right.
  case alignBottomRight = 7
  /// At the right.
  case alignRight = 8
}

/// A view that somebody can use.
@MainActor
open class NSControl: NSView {
  /// Whether it answers.
  open var isEnabled = true
  /// The number of its own.
  open var tag = 0
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
  /// Where the picture stands.
  open var imageAlignment = NSImageAlignment.alignCenter
  /// Whether a moving picture moves.
  open var animates = false
  /// Whether a picture can be dropped into it.
  open var isEditable = false
  /// The settings of symbols that have none.
  open var symbolConfiguration: NSImage.SymbolConfiguration?
  /// The tint of a template.
  open var contentTintColor: NSColor?
  /// How bright the picture may show.
  open var preferredImageDynamicRange = NSImageView.defaultPreferredImageDynamicRange

  /// How bright the pictures of new views may show.
  open class var defaultPreferredImageDynamicRange: NSImage.DynamicRange {
    get { sharedRange }
    set { sharedRange = newValue }
  }

  private static var sharedRange = NSImage.DynamicRange.constrainedHigh

  /// Makes a view the size of a picture.
  public convenience init(image: NSImage) {
    self.init(frame: NSRect(origin: .zero, size: image.size))
    self.image = image
  }

  /// How bright the picture shows.
  open var imageDynamicRange: NSImage.DynamicRange {
    preferredImageDynamicRange == .unspecified ? .standard : preferredImageDynamicRange
  }

  open override var intrinsicContentSize: NSSize {
    image?.size ?? super.intrinsicContentSize
  }

  open override var layer: CALayer? { didSet { show() } }

  open override func prepareForReuse() {
    super.prepareForReuse()
    _symbolEffects.remove { _ in true }
  }

  private func show() {
    guard let layer else { return }
    layer.contents = image?.cgImage(forProposedRect: nil, context: nil, hints: nil)
  }
}

extension NSImageView {
  /// Adds an effect that runs once for an event.
  public func addSymbolEffect(
    _ effect: some DiscreteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
  ) {
    _symbolEffects.add(effect, options: options, animated: animated, completion: nil)
  }

  /// Adds an effect that goes on until it is removed.
  public func addSymbolEffect(
    _ effect: some IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
  ) {
    _symbolEffects.add(effect, options: options, animated: animated, completion: nil)
  }

  /// Adds an effect that can do both.
  public func addSymbolEffect(
    _ effect: some DiscreteSymbolEffect & IndefiniteSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
    animated: Bool = true,
  ) {
    _symbolEffects.add(effect, options: options, animated: animated, completion: nil)
  }

  /// Removes all effects.
  public func removeAllSymbolEffects(options: SymbolEffectOptions = .default, animated: Bool = true) {
    _symbolEffects.remove { _ in true }
  }

  /// Puts another symbol in place of the one that shows.
  public func setSymbolImage(
    _ image: NSImage,
    contentTransition: some ContentTransitionSymbolEffect & SymbolEffect,
    options: SymbolEffectOptions = .default,
  ) {
    self.image = image
    _symbolEffects.replace(contentTransition, options: options, completion: nil)
  }
}
