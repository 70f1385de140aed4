/// A part of a drawing at some size, drawn as if it were the whole picture.
package struct DrawnPart: Hashable, Sendable {
  /// The size of the whole drawing, in pixels.
  package var width: Int
  package var height: Int
  /// The part that is drawn, in these pixels.
  package var region: PixelRegion

  package init(ofWidth width: Int, height: Int, region: PixelRegion) {
    (self.width, self.height, self.region) = (width, height, region)
  }

  /// Returns the number of pixels for each of the drawing's nominal size.
  func scales(of info: ImageInfo) -> (x: Double, y: Double) {
    (Double(width) / Double(info.storedWidth), Double(height) / Double(info.storedHeight))
  }
}

extension ImageInfo {
  /// Returns the facts of a part of a drawing, which takes the place of the picture.
  func showing(_ part: DrawnPart?) -> ImageInfo {
    guard isVector, let part else { return self }
    var info = ImageInfo(format: format, storedWidth: part.region.width, storedHeight: part.region.height)
    (info.hasAlpha, info.isVector, info.workingByteCount) = (hasAlpha, true, workingByteCount)
    return info
  }
}
