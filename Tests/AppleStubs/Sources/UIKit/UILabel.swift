import CoreGraphics
import Foundation

/// A view that shows text, as far as cells need one.
@MainActor
open class UILabel: UIView {
  /// The text.
  open var text: String? { didSet { if text != oldValue { invalidateIntrinsicContentSize() } } }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The font.
  open var font: UIFont! = UIFont.systemFont(ofSize: 17)

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The colour of the text.
  open var textColor: UIColor! = UIColor.label

  /// How many lines it may have, where zero means any number.
  open var numberOfLines = 1

  /// The size of the text, where every letter is half as wide as the font is high.
  open override var intrinsicContentSize: CGSize {
    CGSize(width: CGFloat(text?.count ?? 0) * font.pointSize / 2, height: text == nil ? 0 : font.pointSize * 1.2)
  }

  open override func sizeThatFits(_ size: CGSize) -> CGSize { intrinsicContentSize }
}
