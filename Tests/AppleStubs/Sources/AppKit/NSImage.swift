import CoreGraphics
import Foundation
import Synchronization

/// A picture for the screen.
///
/// It may be changed, and so it is not `Sendable` here.
open class NSImage: NSObject {
  /// The name of a picture.
  public typealias Name = String

  /// How bright a picture may show.
  public enum DynamicRange: Int, Sendable {
    /// Not set.
    case unspecified = -1
    /// Up to white.
    case standard = 0
    /// A little above white.
    case constrainedHigh = 1
    /// As bright as the screen can be.
    case high = 2
  }

  /// The size in points.
  open var size: NSSize
  /// Whether only its shape counts.
  open var isTemplate = false
  /// Its description for assistive technology.
  open var accessibilityDescription: String?
  /// The forms.
  open private(set) var representations: [NSImageRep] = []
  /// The settings of the symbol.
  open private(set) var symbolConfiguration = NSImage.SymbolConfiguration()
  /// The name of the symbol.
  public private(set) var _symbolName: String?
  /// The variable value of the symbol.
  public private(set) var _variableValue: Double?
  private var ownName: NSImage.Name?

  /// Makes an empty picture.
  public init(size: NSSize) {
    self.size = size
    super.init()
  }

  /// Makes an empty picture without a size.
  public override convenience init() {
    self.init(size: .zero)
  }

  /// Makes a picture of pixels, of their number in points if the size is zero.
  public init(cgImage: CGImage, size: NSSize) {
    let representation = NSBitmapImageRep(cgImage: cgImage)
    self.size = size == .zero ? representation.size : size
    super.init()
    representation.size = self.size
    representations = [representation]
  }

  /// Makes a picture from the app's catalogue, which is `_assets` here.
  public convenience init?(named name: NSImage.Name) {
    guard let (image, size) = NSImage._assets[name] else { return nil }
    self.init(cgImage: image, size: size)
    ownName = name
  }

  /// Makes a picture of a system symbol.
  public convenience init?(systemSymbolName name: String, accessibilityDescription description: String?) {
    guard !name.isEmpty, NSImage._symbolNames?.contains(name) ?? true else { return nil }
    self.init(size: NSSize(width: 17, height: 17))
    _symbolName = name
    accessibilityDescription = description
    isTemplate = true
  }

  /// Makes a picture of a system symbol that shows a value from 0 to 1.
  public convenience init?(
    systemSymbolName name: String,
    variableValue value: Double,
    accessibilityDescription description: String?,
  ) {
    self.init(systemSymbolName: name, accessibilityDescription: description)
    _variableValue = value
  }

  /// The name.
  open func name() -> NSImage.Name? { ownName }

  /// The same symbol with other settings, or nothing if it is no symbol.
  open func withSymbolConfiguration(_ configuration: NSImage.SymbolConfiguration) -> NSImage? {
    guard let name = _symbolName else { return nil }
    let copy = NSImage(systemSymbolName: name, accessibilityDescription: accessibilityDescription)
    copy?._variableValue = _variableValue
    copy?.symbolConfiguration = configuration
    let length = configuration._values.pointSize ?? 17
    copy?.size = NSSize(width: length, height: length)
    return copy
  }

  /// The pixels of the form that suits a rectangle best.
  ///
  /// That is the smallest one with enough pixels, or else the largest. The rectangle is left alone.
  open func cgImage(
    forProposedRect proposedDestRect: UnsafeMutablePointer<NSRect>?,
    context referenceContext: NSGraphicsContext?,
    hints: [NSImageRep.HintKey: Any]?,
  ) -> CGImage? {
    let wish = Double(proposedDestRect?.pointee.width ?? size.width)
    let images = representations.compactMap { ($0 as? NSBitmapImageRep)?.cgImage }
    let enough = images.filter { Double($0.width) >= wish }.min { $0.width < $1.width }
    return enough ?? images.max { $0.width < $1.width }
  }
}

extension NSImage {
  private struct Registry: Sendable {
    var assets: [String: (CGImage, NSSize)] = [:]
    var symbolNames: Set<String>?
  }

  private static let registry = Mutex(Registry())

  /// The pixels and sizes of the pictures in the asset catalogue, by name.
  public static var _assets: [String: (CGImage, NSSize)] {
    get { registry.withLock { $0.assets } }
    set { registry.withLock { $0.assets = newValue } }
  }

  /// Adds one picture to the asset catalogue.
  public static func _register(_ image: CGImage, size: NSSize, named name: String) {
    registry.withLock { $0.assets[name] = (image, size) }
  }

  /// The symbols that exist, where nothing means that all do.
  public static var _symbolNames: Set<String>? {
    get { registry.withLock { $0.symbolNames } }
    set { registry.withLock { $0.symbolNames = newValue } }
  }
}
