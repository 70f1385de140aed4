import CoreGraphics
import Dispatch
import Foundation

extension UIImage {
  /// Whether it is decoded and ready.
  public var _isPrepared: Bool { _facts.isPrepared }

  /// Decodes the picture now, and gives back the decoded one.
  ///
  /// A picture without pixels gives nothing.
  public func preparingForDisplay() -> UIImage? {
    guard cgImage != nil else { return nil }
    return _changed { $0.isPrepared = true }
  }

  /// Decodes the picture elsewhere, and hands over the decoded one there.
  public func prepareForDisplay(completionHandler: @escaping @Sendable (UIImage?) -> Void) {
    DispatchQueue.global().async { completionHandler(self.preparingForDisplay()) }
  }

  /// Decodes the picture elsewhere.
  public func byPreparingForDisplay() async -> UIImage? {
    preparingForDisplay()
  }

  /// Makes a smaller picture of a size in points.
  ///
  /// Here it keeps the pixels of the large one, and only tells the size.
  public func preparingThumbnail(of size: CGSize) -> UIImage? {
    guard cgImage != nil, size.width > 0, size.height > 0 else { return nil }
    return _changed {
      $0.isPrepared = true
      $0.thumbnailSize = size
    }
  }

  /// Makes a smaller picture elsewhere, and hands it over there.
  public func prepareThumbnail(of size: CGSize, completionHandler: @escaping @Sendable (UIImage?) -> Void) {
    DispatchQueue.global().async { completionHandler(self.preparingThumbnail(of: size)) }
  }

  /// Makes a smaller picture elsewhere.
  public func byPreparingThumbnail(ofSize size: CGSize) async -> UIImage? {
    preparingThumbnail(of: size)
  }
}
