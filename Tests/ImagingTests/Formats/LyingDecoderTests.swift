import Testing
import VitrineRuntime

@testable import VitrineImaging

/// A program's own decoder that answers what cannot be: each time an error, in a release build, too.
@Suite
struct LyingDecoderTests {
  /// One of the members, and what it says.
  enum Lie: Sendable, CustomTestStringConvertible {
    case stored(Int, Int)
    case frames(Int, Double)
    case bits(Int)
    case working(Int)
    case rows(Int, Int)
    case extent(Double, Double)
    case origin(Int, Int)
    /// More rows than it was asked for, or a number that cannot be.
    case got(Int)
    /// Another width each time that it is asked.
    case grows

    var testDescription: String { "\(self)" }

    static let all: [Lie] = {
      var all: [Lie] = [.grows]
      let sizes: [(Int, Int)] = [(0, 8), (8, 0), (-1, 8), (8, .min), (1 << 40, 8), (8, .max), (.max, .max)]
      for (width, height) in sizes { all.append(.stored(width, height)) }
      let frames: [(Int, Double)] = [(0, 0), (-1, 0), (.min, 0), (.max, 1), (2, .nan), (2, -1), (2, .infinity)]
      for (count, duration) in frames { all.append(.frames(count, duration)) }
      for count in [0, -8, 65, Int.max] { all.append(.bits(count)) }
      for count in [-1, Int.min, Int.max] { all.append(.working(count)) }
      let rows: [(Int, Int)] = [(0, 8), (-8, 8), (8, -8), (9, 8), (8, 9), (1 << 40, 8), (8, .max), (.min, 8)]
      for (width, height) in rows { all.append(.rows(width, height)) }
      let extents: [(Double, Double)] = [
        (0, 8), (-8, 8), (.nan, 8), (8, .infinity), (1e300, 8), (0.001, 8), (9, 8),
      ]
      for (width, height) in extents { all.append(.extent(width, height)) }
      let origins: [(Int, Int)] = [
        (1, 0), (0, 1), (-1, 0), (0, -1), (.max, 0), (0, .min), (8, 8), (1 << 40, 0),
      ]
      for (x, y) in origins { all.append(.origin(x, y)) }
      for count in [-1, Int.min, Int.max, 17, 0] { all.append(.got(count)) }
      return all
    }()
  }

  private final class Rows: RowSource {
    let lie: Lie?
    private var asked = 0
    private var row = 0

    init(_ lie: Lie?) { self.lie = lie }

    var width: Int {
      if case .rows(let width, _) = lie { return width }
      guard case .grows = lie else { return 8 }
      asked += 1
      return 8 * asked
    }
    var height: Int { if case .rows(_, let height) = lie { height } else { 8 } }
    var extentWidth: Double { if case .extent(let width, _) = lie { width } else { 8 } }
    var extentHeight: Double { if case .extent(_, let height) = lie { height } else { 8 } }
    var origin: (x: Int, y: Int) { if case .origin(let x, let y) = lie { (x, y) } else { (0, 0) } }
    var hasAlpha: Bool { false }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      if case .got(let count) = lie { return count }
      let count = max(0, min(count, 8 - row))
      for index in 0..<count {
        // Eight pixels, for which there is room.
        unsafe UnsafeMutableRawBufferPointer(rebasing: rows[index * bytesPerRow..<index * bytesPerRow + 32])
          .initializeMemory(as: UInt8.self, repeating: 255)
      }
      row += count
      return count
    }
  }

  private struct Decoder: ImageDecoder {
    let lie: Lie?
    let formats = [ImageFormat(name: "lie", mediaType: "image/x-lie", fileExtension: "lie")]

    func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { formats[0] }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
      switch lie {
      case .stored(let width, let height): info = ImageInfo(format: format, storedWidth: width, storedHeight: height)
      case .frames(let count, let duration): (info.frameCount, info.duration) = (count, duration)
      case .bits(let count): info.bitsPerComponent = count
      case .working(let count): info.workingByteCount = count
      default: break
      }
      return info
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      Rows(lie)
    }
  }

  private let file = Data("a file of its own format".utf8)

  /// Every way in which pixels are made of rows.
  private func decode(_ registry: DecoderRegistry, _ change: (inout DecodeOptions) -> Void = { _ in }) throws -> Bitmap
  {
    var options = DecodeOptions()
    change(&options)
    return try registry.decode(file, options).bitmap
  }

  private func ways(_ registry: DecoderRegistry) -> [() throws -> Void] {
    [
      { _ = try decode(registry) },
      { _ = try decode(registry) { $0.size = .pixels(3, 3, .exact) } },
      { _ = try decode(registry) { $0.size = .pixels(3, 5, .fill) } },
      { _ = try decode(registry) { $0.size = .pixels(20, 20, .exact, enlarges: true) } },
      { _ = try decode(registry) { $0.region = PixelRegion(x: 2, y: 3, width: 4, height: 4) } },
      { _ = try decode(registry) { $0.acceptsPartial = true } },
      { _ = try registry.decodeGray(file, DecodeOptions()) },
    ]
  }

  @Test
  func oneThatTellsTheTruthIsDecoded() throws {
    let registry = DecoderRegistry([Decoder(lie: nil)])
    for way in ways(registry) { try way() }
    #expect(try decode(registry)[7, 7] == SIMD4(255, 255, 255, 255))
  }

  @Test(arguments: Lie.all)
  func oneThatLiesIsAnError(lie: Lie) throws {
    let registry = DecoderRegistry([Decoder(lie: lie)])
    for (number, way) in ways(registry).enumerated() {
      // What harms nobody may be right.
      if case .grows = lie {
        try way()
      } else {
        let error = #expect(throws: ImageError.self, "way \(number)") { try way() }
        #expect(error?.format?.name == "lie", "\(String(describing: error))")
      }
    }
  }
}
