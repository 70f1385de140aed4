import CoreGraphics
import Foundation

/// One form of a picture.
open class NSImageRep: NSObject {
  /// The name of a hint.
  public struct HintKey: Hashable, Equatable, RawRepresentable, Sendable {
    /// The name.
    public let rawValue: String

    /// Makes a key from its name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// The width in pixels.
  open var pixelsWide = 0
  /// The height in pixels.
  open var pixelsHigh = 0
  /// The size in points.
  open var size = NSSize.zero

  /// Makes an empty form.
  public override init() {
    super.init()
  }
}

/// A form made of pixels.
open class NSBitmapImageRep: NSImageRep {
  /// The pixels.
  open private(set) var cgImage: CGImage?

  /// Makes a form of pixels, at one pixel a point.
  public init(cgImage: CGImage) {
    super.init()
    self.cgImage = cgImage
    pixelsWide = cgImage.width
    pixelsHigh = cgImage.height
    size = NSSize(width: cgImage.width, height: cgImage.height)
  }
}

/// A place to draw in, which these stubs do not have.
open class NSGraphicsContext: NSObject {}
