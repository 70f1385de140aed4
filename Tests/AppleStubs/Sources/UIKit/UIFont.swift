import Foundation

/// A font, as far as symbols need one.
open class UIFont: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// The role of a text.
  public typealias TextStyle = _TextStyle

  /// The size in points.
  public let pointSize: CGFloat
  /// The style it was made for.
  public let _textStyle: TextStyle?

  init(size: CGFloat, textStyle: TextStyle?) {
    pointSize = size
    _textStyle = textStyle
    super.init()
  }

  /// The system's font.
  open class func systemFont(ofSize fontSize: CGFloat) -> UIFont {
    UIFont(size: fontSize, textStyle: nil)
  }

  /// The font of a style, at the size most people have set.
  open class func preferredFont(forTextStyle style: UIFont.TextStyle) -> UIFont {
    let sizes: [TextStyle: CGFloat] = [
      .largeTitle: 34, .title1: 28, .title2: 22, .title3: 20, .callout: 16, .subheadline: 15,
      .footnote: 13, .caption1: 12, .caption2: 11,
    ]
    return UIFont(size: sizes[style] ?? 17, textStyle: style)
  }
}
