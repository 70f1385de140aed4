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

  /// The size of the text, where every letter is half as wide as the font is high.
  open override var intrinsicContentSize: CGSize {
    CGSize(width: CGFloat(text?.count ?? 0) * font.pointSize / 2, height: text == nil ? 0 : font.pointSize * 1.2)
  }
}
