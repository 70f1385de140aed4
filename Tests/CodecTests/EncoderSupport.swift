import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The external formats that are encoded, for tests of what both must do.
enum Written: String, CaseIterable, CustomTestStringConvertible {
  case avif, jxl

  var format: ImageFormat { self == .avif ? .avif : .jxl }
  var lossless: ImageEncoding { self == .avif ? .avif(isLossless: true) : .jxl(isLossless: true) }
  /// The default options.
  var lossy: ImageEncoding { self == .avif ? .avif() : .jxl() }
  /// The fastest options.
  var fast: ImageEncoding { self == .avif ? .avif(speed: 10) : .jxl(effort: 3) }
  var testDescription: String { rawValue }

  /// Encodes an input that no registry has prepared.
  func encode(_ input: EncoderInput) throws(ImageError) -> Data {
    switch self {
    case .avif: try AVIFEncoder().encode(input, AVIFOptions(speed: 10))
    case .jxl: try JXLEncoder().encode(input, JXLOptions(effort: 3))
    }
  }
}

/// The external encoders and no others, added as a user adds them.
let encoders: EncoderRegistry = {
  var encoders = EncoderRegistry([])
  encoders.add(.avif)
  encoders.add(.jxl)
  return encoders
}()

extension Bitmap {
  /// Noise on a slope: no two rows are alike, and no codec finds it easy.
  static func noisy(width: Int, height: Int, alpha: Alpha = .opaque, seed: UInt64 = 1) -> Bitmap {
    var generator = SplitMix64(seed: seed)
    return pixels(width: width, height: height, alpha: alpha) { x, y in
      let level = UInt8(truncatingIfNeeded: 40 + (x + 2 * y) % 160)
      let noise = UInt8.random(in: 0...40, using: &generator)
      let coverage = alpha == .opaque ? 255 : UInt8.random(in: 0...255, using: &generator)
      return SIMD4(level &+ noise, level, 255 - level, coverage)
    }
  }

  /// Returns `true` if the fourth components are equal, or differ no more than `tolerance`.
  func hasCoverage(of other: Bitmap, within tolerance: Int = 0) -> Bool {
    size == other.size
      && (0..<height).allSatisfy { y in
        (0..<width).allSatisfy { x in abs(Int(self[x, y].w) - Int(other[x, y].w)) <= tolerance }
      }
  }
}

/// An animation whose frames are made by a closure.
struct MovingPicture: ImageDecoder {
  var delays: [Double]
  var loopCount = 0
  var hasAlpha = false
  let width: Int
  let height: Int
  let color: @Sendable (_ frame: Int, _ x: Int, _ y: Int) -> SIMD4<UInt8>

  let formats: [ImageFormat] = [.qoi]

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    var info = ImageInfo(format: .qoi, storedWidth: width, storedHeight: height)
    (info.frameCount, info.duration) = (delays.count, delays.reduce(0, +))
    (info.loopCount, info.hasAlpha) = (loopCount, hasAlpha)
    return info
  }

  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] { delays }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    Rows(self, request.frame)
  }

  /// The animation, for an encoder.
  var container: ImageContainer {
    get throws {
      var options = DecodeOptions()
      options.animates = true
      let image = try DecoderRegistry([self]).decode(Data("qoif".utf8), options)
      try #require(image.animation != nil)
      return image
    }
  }

  func frame(_ index: Int) -> Bitmap {
    .pixels(width: width, height: height, alpha: hasAlpha ? .straight : .opaque) { x, y in color(index, x, y) }
  }

  private final class Rows: RowSource {
    private let picture: MovingPicture
    private let frame: Int
    private var row = 0
    var width: Int { picture.width }
    var height: Int { picture.height }
    var hasAlpha: Bool { picture.hasAlpha }

    init(_ picture: MovingPicture, _ frame: Int) { (self.picture, self.frame) = (picture, frame) }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      let count = min(count, height - row)
      for y in 0..<count {
        for x in 0..<width {
          let offset = y * bytesPerRow + 4 * x
          // Within the rows that are asked for.
          unsafe rows.storeBytes(of: picture.color(frame, x, row + y), toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
      }
      row += count
      return count
    }
  }
}

extension Data {
  /// Returns the contents of all top-level boxes of a type (ISO/IEC 14496-12, 4.2).
  func boxes(_ type: String) -> [Data] {
    var (found, rest) = ([Data](), self[...])
    while rest.count >= 8 {
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let length = size == 0 ? rest.count : size
      guard length >= 8, length <= rest.count else { return found }
      if rest.dropFirst(4).prefix(4).elementsEqual(type.utf8) { found.append(Data(rest.prefix(length).dropFirst(8))) }
      rest = rest.dropFirst(length)
    }
    return found
  }
}
