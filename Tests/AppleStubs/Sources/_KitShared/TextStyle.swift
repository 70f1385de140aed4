/// The role of a text.
public struct _TextStyle: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name that the system knows it by.
  public let rawValue: String

  /// Makes a style from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// A very large title.
  public static let largeTitle = _TextStyle(rawValue: "UICTFontTextStyleTitle0")
  /// A large title.
  public static let title1 = _TextStyle(rawValue: "UICTFontTextStyleTitle1")
  /// A title.
  public static let title2 = _TextStyle(rawValue: "UICTFontTextStyleTitle2")
  /// A small title.
  public static let title3 = _TextStyle(rawValue: "UICTFontTextStyleTitle3")
  /// A lesser heading.
  public static let subheadline = _TextStyle(rawValue: "UICTFontTextStyleSubhead")
  /// A remark.
  public static let callout = _TextStyle(rawValue: "UICTFontTextStyleCallout")
  /// A note.
  public static let footnote = _TextStyle(rawValue: "UICTFontTextStyleFootnote")
  /// A caption.
  public static let caption1 = _TextStyle(rawValue: "UICTFontTextStyleCaption1")
  /// A lesser caption.
  public static let caption2 = _TextStyle(rawValue: "UICTFontTextStyleCaption2")
}
