import Foundation

/// A font, as far as symbols need one.
open class UIFont: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// The role of a text.
  public struct TextStyle: Hashable, Equatable, RawRepresentable, Sendable {
    /// The name UIKit knows it by.
    public let rawValue: String

    /// Makes a style from its name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A very large title.
    public static let largeTitle = TextStyle(rawValue: "UICTFontTextStyleTitle0")
    /// A large title.
    public static let title1 = TextStyle(rawValue: "UICTFontTextStyleTitle1")
    /// A title.
    public static let title2 = TextStyle(rawValue: "UICTFontTextStyleTitle2")
    /// A small title.
    public static let title3 = TextStyle(rawValue: "UICTFontTextStyleTitle3")
    /// A heading.
    public static let headline = TextStyle(rawValue: "UICTFontTextStyleHeadline")
    /// A lesser heading.
    public static let subheadline = TextStyle(rawValue: "UICTFontTextStyleSubhead")
    /// Running text.
    public static let body = TextStyle(rawValue: "UICTFontTextStyleBody")
    /// A remark.
    public static let callout = TextStyle(rawValue: "UICTFontTextStyleCallout")
    /// A note.
    public static let footnote = TextStyle(rawValue: "UICTFontTextStyleFootnote")
    /// A caption.
    public static let caption1 = TextStyle(rawValue: "UICTFontTextStyleCaption1")
    /// A lesser caption.
    public static let caption2 = TextStyle(rawValue: "UICTFontTextStyleCaption2")
  }

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
