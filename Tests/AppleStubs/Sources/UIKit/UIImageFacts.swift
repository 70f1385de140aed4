import CoreGraphics
import Foundation
import Synchronization

extension UIImage {
  /// What a picture is made of.
  public struct _Facts: Sendable {
    /// The pixels.
    public var cgImage: CGImage?
    /// How many pixels make a point.
    public var scale: CGFloat = 1
    /// How the pixels are turned.
    public var orientation = UIImage.Orientation.up
    /// Where the colours come from.
    public var renderingMode = UIImage.RenderingMode.automatic
    /// The name in the catalogue.
    public var assetName: String?
    /// The name of the symbol.
    public var symbolName: String?
    /// The variable value of the symbol.
    public var variableValue: Double?
    /// The settings.
    public var configuration: UIImage.Configuration?
    /// The size that was asked of a thumbnail.
    public var thumbnailSize: CGSize?

    /// Makes the facts of pixels.
    public init(cgImage: CGImage? = nil) {
      self.cgImage = cgImage
    }

    var size: CGSize {
      if let thumbnailSize { return thumbnailSize }
      if symbolName != nil {
        let length = (configuration as? UIImage.SymbolConfiguration)?._pointLength ?? 17
        return CGSize(width: length, height: length)
      }
      guard let cgImage else { return .zero }
      let width = CGFloat(cgImage.width) / scale
      let height = CGFloat(cgImage.height) / scale
      switch orientation {
      case .left, .right, .leftMirrored, .rightMirrored: return CGSize(width: height, height: width)
      case .up, .down, .upMirrored, .downMirrored: return CGSize(width: width, height: height)
      }
    }
  }

  private struct Registry: Sendable {
    var assets: [String: UIImage] = [:]
    var symbolNames: Set<String>?
  }

  private static let registry = Mutex(Registry())

  /// The pictures of the asset catalogue, by name.
  public static var _assets: [String: UIImage] {
    get { registry.withLock { $0.assets } }
    set { registry.withLock { $0.assets = newValue } }
  }

  /// Adds one picture to the asset catalogue.
  public static func _register(_ image: UIImage, named name: String) {
    registry.withLock { $0.assets[name] = image }
  }

  /// The symbols that exist, where nothing means that all do.
  public static var _symbolNames: Set<String>? {
    get { registry.withLock { $0.symbolNames } }
    set { registry.withLock { $0.symbolNames = newValue } }
  }
}
