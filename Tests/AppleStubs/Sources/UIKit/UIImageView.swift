import CoreGraphics
import Foundation

/// A view that shows a picture.
@MainActor
open class UIImageView: UIView {
  /// Every picture that was set, the oldest first.
  public private(set) var _imageHistory: [UIImage?] = []
  /// What plays the symbol effects.
  public let _symbolEffects = _SymbolEffectPlayer()

  /// The picture.
  open var image: UIImage? {
    didSet {
      _imageHistory.append(image)
      if image?.size != oldValue?.size { invalidateIntrinsicContentSize() }
      show()
    }
  }
  /// The picture while it is highlighted.
  open var highlightedImage: UIImage? { didSet { show() } }
  /// Whether it is highlighted.
  open var isHighlighted = false { didSet { show() } }
  /// The settings of symbols that have none.
  open var preferredSymbolConfiguration: UIImage.SymbolConfiguration?
  /// How bright the picture may show.
  open var preferredImageDynamicRange = UIImage.DynamicRange.unspecified

  /// Makes a view without a picture.
  public override init(frame: CGRect) {
    super.init(frame: frame)
    isUserInteractionEnabled = false
  }

  /// Makes an empty view: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    isUserInteractionEnabled = false
  }

  open override var intrinsicContentSize: CGSize {
    shown?.size ?? super.intrinsicContentSize
  }

  /// The settings that a symbol in this view is drawn with.
  public var _effectiveSymbolConfiguration: UIImage.SymbolConfiguration? {
    guard let image = shown, image.isSymbolImage else { return nil }
    guard let preferred = preferredSymbolConfiguration else { return image.symbolConfiguration }
    return image.symbolConfiguration.map { preferred.applying($0) } ?? preferred
  }

  private var shown: UIImage? {
    isHighlighted ? highlightedImage ?? image : image
  }

  private func show() {
    layer.contents = shown?.cgImage
    layer.contentsScale = shown?.scale ?? 1
    _Clock._current._requestUpdate()
  }
}
