/// Rows of one frame, from top to bottom, in stored orientation unless ``isUpright`` is set.
public protocol RowSource: AnyObject {
  /// The number of delivered pixels in a row.
  var width: Int { get }
  /// The number of delivered rows.
  var height: Int { get }
  /// The width of the whole image in delivered pixels, which may be fractional: at a scale of 1/8 an image 1,003
  /// pixels wide is 125.375 wide, and 126 pixels are delivered.
  var extentWidth: Double { get }
  /// The height of the whole image in delivered pixels, which may be fractional.
  var extentHeight: Double { get }
  /// The position of the first delivered pixel in the whole image, in delivered pixels, if the decoder skipped
  /// unneeded ones.
  var origin: (x: Int, y: Int) { get }
  /// A Boolean value that indicates whether the fourth byte of a pixel is straight coverage; otherwise it is 255.
  var hasAlpha: Bool { get }
  /// The meaning of a pixel's four bytes: inks for ``ColorModel/cmyk``, with 255 for full ink; otherwise red, green,
  /// blue and alpha.
  var colorModel: ColorModel { get }
  /// A Boolean value that indicates whether the decoder downsampled by averaging, so that each delivered pixel is the
  /// mean of the stored ones it covers. The filter then restores what that has blurred.
  var isAveraged: Bool { get }
  /// The colour space of the rows, if the decoder has converted them; `nil` if they are in the file's own colours.
  var colorSpace: ColorSpace? { get }
  /// A Boolean value that indicates whether the decoder has applied the image's orientation, so that the rows are the
  /// upright image's.
  var isUpright: Bool { get }
  /// The damage of a picture whose rows were all delivered, for example of a picture that is only coarse. It is read after the
  /// last row that is needed.
  var damage: ImageError? { get }

  /// Reads the next rows: RGBA, 8 bits a component, straight alpha, or inks by ``colorModel``.
  ///
  /// - Parameters:
  ///   - rows: The memory for the rows, of at least `bytesPerRow * (count - 1) + 4 * width` bytes.
  ///   - bytesPerRow: The number of bytes from the start of one row to the next.
  ///   - count: The maximum number of rows.
  /// - Returns: The number of rows read: at least 1 until the last one has been read.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.cancelled`, `.outOfTime`.
  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
}

extension RowSource {
  /// Defaults to ``width``.
  public var extentWidth: Double { Double(width) }
  /// Defaults to ``height``.
  public var extentHeight: Double { Double(height) }
  /// Defaults to the first pixel of the image.
  public var origin: (x: Int, y: Int) { (0, 0) }
  /// Defaults to `false`.
  public var isAveraged: Bool { false }
  /// Defaults to RGBA.
  public var colorModel: ColorModel { .rgb }
  /// Defaults to `nil`: the file's own colours.
  public var colorSpace: ColorSpace? { nil }
  /// Defaults to `false`: stored orientation.
  public var isUpright: Bool { false }
  /// Defaults to `nil`: no damage.
  public var damage: ImageError? { nil }
}

extension ColorTransform {
  /// Makes a transform for the rows of an image; returns `nil` if it would change nothing by more than a level.
  init?(_ info: ImageInfo, rows: ColorModel, to target: ColorSpace) {
    self.init(info.colorProfile, info.colorEncoding, info.colorModel, isInk: rows == .cmyk, to: target)
  }

  /// Makes a transform for the rows of a source; returns `nil` if it would change nothing by more than a level.
  init?(of source: any RowSource, _ info: ImageInfo, to target: ColorSpace) {
    guard let own = source.colorSpace else {
      self.init(info, rows: source.colorModel, to: target)
      return
    }
    guard own != target else { return nil }
    self.init(from: own.encoding.matrixShaper, to: target)
  }
}

extension RowSource {
  /// Reads rows into memory whose bounds are checked.
  func read(into rows: MutableElements<UInt8>, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    precondition(count > 0 && rows.count >= bytesPerRow * (count - 1) + 4 * width, "no room for the rows")
    // As much room as a source may use, by the line above.
    return try unsafe rows.withUnsafeBufferPointer { (rows) throws(ImageError) in
      try unsafe read(into: UnsafeMutableRawBufferPointer(rows), bytesPerRow: bytesPerRow, count: count)
    }
  }
}
