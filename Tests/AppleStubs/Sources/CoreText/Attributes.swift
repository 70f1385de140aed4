// The attributes of strings, and the style of a paragraph.

/// The font: a ``CTFont``.
public var kCTFontAttributeName: CFString { "NSFont" as NSString }
/// The colour of letters: a `CGColor`.
public var kCTForegroundColorAttributeName: CFString { "CTForegroundColor" as NSString }
/// The style of the paragraph: a ``CTParagraphStyle``.
public var kCTParagraphStyleAttributeName: CFString { "NSParagraphStyle" as NSString }

/// The direction in which a paragraph is written.
public enum CTWritingDirection: Int8, Sendable {
  /// As its letters are; from left to right in the stub.
  case natural = -1
  /// From left to right.
  case leftToRight
  /// From right to left.
  case rightToLeft
}

/// The kind of a setting.
public enum CTParagraphStyleSpecifier: UInt32, Sendable {
  /// The direction: a ``CTWritingDirection``.
  case baseWritingDirection = 13
}

/// A setting of a paragraph, whose value is elsewhere.
public struct CTParagraphStyleSetting {
  /// The kind.
  public var spec: CTParagraphStyleSpecifier
  /// The number of bytes of the value.
  public var valueSize: Int
  /// The address of the value.
  public var value: UnsafeRawPointer

  /// Makes a setting.
  public init(spec: CTParagraphStyleSpecifier, valueSize: Int, value: UnsafeRawPointer) {
    (self.spec, self.valueSize, self.value) = (spec, valueSize, value)
  }
}

/// The style of a paragraph.
public final class CTParagraphStyle {
  let direction: CTWritingDirection

  init(_ direction: CTWritingDirection) { self.direction = direction }
}

/// Makes a style of settings, whose values are copied.
public func CTParagraphStyleCreate(
  _ settings: UnsafePointer<CTParagraphStyleSetting>?,
  _ settingCount: Int,
) -> CTParagraphStyle {
  let settings = UnsafeBufferPointer(start: settings, count: settingCount)
  precondition(settings.allSatisfy { $0.valueSize == MemoryLayout<CTWritingDirection>.size })
  return CTParagraphStyle(settings.last?.value.load(as: CTWritingDirection.self) ?? .natural)
}
