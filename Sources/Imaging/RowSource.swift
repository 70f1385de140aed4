/// Rows of one frame, from top to bottom, as stored: not yet turned upright.
public protocol RowSource: AnyObject {
  /// Pixels of a row as delivered.
  var width: Int { get }
  /// Rows as delivered.
  var height: Int { get }
  /// How wide the whole image is in delivered pixels, where that is not a whole number: at a scale of 1/8 an image 1,003
  /// pixels wide is 125.375 wide, though 126 pixels are delivered.
  var extentWidth: Double { get }
  /// How high the whole image is in delivered pixels.
  var extentHeight: Double { get }
  /// The delivered pixel of the whole image at which the rows begin, where the decoder left out what was not asked for.
  var origin: (x: Int, y: Int) { get }
  /// Whether the fourth byte of a pixel is straight coverage; else it is 255.
  var hasAlpha: Bool { get }
  /// What the four bytes of a pixel are: inks for ``ColorModel/cmyk``, 255 where there is most; else red, green, blue and
  /// alpha.
  var colorModel: ColorModel { get }
  /// Whether the decoder shrank by taking means, so that each delivered pixel is the mean of the stored ones it covers;
  /// the filter that does the rest then restores what that has blurred.
  var isAveraged: Bool { get }
  /// What is wrong although every row came, such as a picture that is there only coarsely; asked behind the last row that
  /// is needed.
  var damage: ImageError? { get }

  /// Reads the next rows: RGBA, 8 bits a component, straight alpha, or what ``colorModel`` says.
  ///
  /// - Parameters:
  ///   - rows: Where they go; at least `bytesPerRow * (count - 1) + 4 * width` bytes.
  ///   - bytesPerRow: From one row to the next.
  ///   - count: How many at most.
  /// - Returns: How many rows were read: at least 1 until the last one has been.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.cancelled`, `.outOfTime`.
  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
}

extension RowSource {
  /// The ``width``.
  public var extentWidth: Double { Double(width) }
  /// The ``height``.
  public var extentHeight: Double { Double(height) }
  /// The first pixel of the image.
  public var origin: (x: Int, y: Int) { (0, 0) }
  /// `false`.
  public var isAveraged: Bool { false }
  /// RGBA.
  public var colorModel: ColorModel { .rgb }
  /// Nothing.
  public var damage: ImageError? { nil }
}
