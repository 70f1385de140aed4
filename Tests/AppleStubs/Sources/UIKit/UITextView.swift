import CoreGraphics
import Foundation

/// Something within a text that is no character.
@MainActor
open class NSTextAttachment: NSObject, _AssociationOwner {
  /// The image.
  open var image: UIImage?
  /// The rectangle, from the baseline; that of the image if it is empty.
  open var bounds = CGRect.zero
  /// What is associated with it.
  public var _associations: [UnsafeRawPointer: Any] = [:]
}

extension NSAttributedString.Key {
  /// An attachment.
  public static let attachment = NSAttributedString.Key(rawValue: "NSAttachment")
}

extension NSTextStorage {
  /// What was edited.
  public struct EditActions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes actions of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Attributes.
    public static let editedAttributes = EditActions(rawValue: 1)
    /// Characters.
    public static let editedCharacters = EditActions(rawValue: 2)
  }
}

/// A text that is laid out; it holds a text here, and is none.
@MainActor
open class NSTextStorage: NSObject {
  /// The text.
  public let _text: NSMutableAttributedString
  /// The ranges that were edited, the oldest first.
  public private(set) var _edits: [NSRange] = []

  /// Makes a text.
  public init(_ text: NSAttributedString) {
    _text = NSMutableAttributedString(attributedString: text)
    super.init()
  }

  /// The number of characters.
  open var length: Int { _text.length }

  /// Calls a closure with each value of an attribute.
  open func enumerateAttribute(
    _ name: NSAttributedString.Key,
    in range: NSRange,
    using block: (Any?, NSRange, UnsafeMutablePointer<ObjCBool>) -> Void,
  ) {
    _text.enumerateAttribute(name, in: range, options: [], using: block)
  }

  /// Notes that a range was edited.
  open func edited(_ actions: NSTextStorage.EditActions, range: NSRange, changeInLength delta: Int) {
    _edits.append(range)
  }
}

/// A view of a text.
@MainActor
open class UITextView: UIScrollView {
  /// The text.
  open private(set) var textStorage = NSTextStorage(NSAttributedString(string: ""))

  /// The text, with attributes.
  open var attributedText: NSAttributedString {
    get { textStorage._text }
    set { textStorage = NSTextStorage(newValue) }
  }
}
