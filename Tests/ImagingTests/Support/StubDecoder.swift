import VitrineImaging
import VitrineRuntime

/// A decoder of one's own: pictures of one colour, of the format QOI, which no other reads.
struct StubDecoder: ImageDecoder {
  /// The beginning of a QOI file and nothing else.
  static let file = Data([UInt8].text("qoif"))

  var formats: [ImageFormat] = [.qoi]
  var color = SIMD4<UInt8>(10, 20, 30, 255)
  var profile: ColorProfile?
  var declinesInfo = false
  var declinesToOpen = false
  /// How many rows come before there are no more.
  var rowCount = 6

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    guard !declinesInfo else { return nil }
    var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 6)
    info.colorProfile = profile
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    declinesToOpen ? nil : Rows(color: color, rowCount: rowCount)
  }

  private final class Rows: RowSource {
    let width = 8
    let height = 6
    let hasAlpha = true
    private let color: SIMD4<UInt8>
    private var rest: Int

    init(color: SIMD4<UInt8>, rowCount: Int) {
      self.color = color
      rest = rowCount
    }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      guard rest > 0 else { return 0 }
      rest -= 1
      for x in 0..<width {
        // The caller gives room for `count` rows of `width` pixels, and `count` is at least 1.
        unsafe rows.storeBytes(of: color, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
      }
      return 1
    }
  }
}
