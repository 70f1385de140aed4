import Testing
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// Processors beside pictures that other programs have made.
struct ReferenceTests {
  /// The processor, the picture it starts from, and the largest difference of a component, in levels.
  ///
  /// One level is rounding. Two are rounding before and after a factor of 1.5, or with another formula for compositing.
  static let cases: [(ImageProcessor, from: String, to: String, Int)] = [
    (.blur(radius: 0.7), "opaque", "blur-0.7", 1), (.blur(radius: 2), "opaque", "blur-2", 1),
    (.blur(radius: 3.5), "opaque", "blur-3.5", 1), (.blur(radius: 8), "opaque", "blur-8", 1),
    (.blur(radius: 40), "opaque", "blur-40", 1), (.sharpen(amount: 1.5, radius: 2), "opaque", "sharpen", 2),
    (.resize(.pixels(20, 15, .exact)), "opaque", "resize", 1), (.flip(.horizontal), "opaque", "flip", 0),
    (.rotate(quarterTurns: 1), "opaque", "rotate-90", 0), (.rotate(degrees: -270), "opaque", "rotate-90", 0),
    (.background(PixelColor(0xFF8000)), "alpha", "background", 1),
    (.tint(PixelColor(0x0060FF).opacity(128.0 / 255)), "opaque", "tint", 1),
    (.grayscale(), "opaque", "grayscale", 1), (.brightness(0.2), "opaque", "brightness", 1),
    (.contrast(1.5), "opaque", "contrast", 1), (.exposure(1), "opaque", "exposure", 1),
    (.saturation(1.5), "opaque", "saturation", 1), (.sepia(), "opaque", "sepia", 1),
  ]

  @Test(arguments: cases)
  func theResultIsThatOfAnotherProgram(processor: ImageProcessor, from: String, to: String, tolerance: Int) throws {
    let result = try processor.process(Golden.bitmap(from))
    let expected = try Golden.bitmap(to)

    #expect(result.size == expected.size)
    #expect(result.largestDifference(from: expected) <= tolerance)
  }

  /// With alpha, and the largest differences of coverage, and of colours weighted by it.
  static let shapes: [(ImageProcessor, from: String, to: String, Int, Int)] = [
    (.blur(radius: 2), "alpha", "blur-2-alpha", 1, 1), (.blur(radius: 8), "alpha", "blur-8-alpha", 1, 1),
    (
      .roundedCorners(CornerRadii(topLeft: 4, topRight: 10.5, bottomRight: 0, bottomLeft: 20)), "opaque", "corners", 2,
      2,
    ),
    (.circle(), "opaque", "circle", 2, 2),
    (.border(width: 3, color: PixelColor(0x2040D0), radius: 12), "opaque", "border", 2, 4),
  ]

  @Test(arguments: shapes)
  func shapesAndSoftPicturesAreThoseOfAnotherProgram(
    processor: ImageProcessor,
    from: String,
    to: String,
    coverage: Int,
    color: Int,
  ) throws {
    let result = try processor.process(Golden.bitmap(from))
    let expected = try Golden.bitmap(to)

    #expect(result.size == expected.size)
    let pairs = zip(result.pixels, expected.pixels)
    #expect(pairs.allSatisfy { abs(Int($0.w) - Int($1.w)) <= coverage })
    #expect(pairs.map { $0.visibleDifference(from: $1) }.max() ?? 0 <= color)
  }

  static let overlays: [(ImageProcessor.BlendMode, String)] = [
    (.normal, "overlay"), (.multiply, "overlay-multiply"), (.screen, "overlay-screen"),
  ]

  @Test(arguments: overlays)
  func overlaysBlendAsElsewhere(mode: ImageProcessor.BlendMode, to: String) throws {
    let cover = try Golden.bitmap("alpha").cropped(x: 12, y: 4, width: 40, height: 40)
    let processor = ImageProcessor.overlay(cover, mode, at: .topLeft, offset: (20, 6))

    let result = try processor.process(Golden.bitmap("opaque"))

    #expect(result.alpha == .opaque)
    #expect(result.largestDifference(from: try Golden.bitmap(to)) <= 1)
  }

  @Test
  func aRotatedPictureIsThatOfAnotherProgramInsideItsEdges() throws {
    let result = try ImageProcessor.rotate(degrees: 30).process(Golden.bitmap("opaque"))
    let expected = try Golden.bitmap("rotate-30")

    #expect(result.size == expected.size)
    var compared = 0
    for y in 3..<result.height - 3 {
      for x in 3..<result.width - 3 {
        // Programs differ in how they treat the pixels beyond the edges.
        let isInside = (-3...3).allSatisfy { dy in (-3...3).allSatisfy { expected[x + $0, y + dy].w == 255 } }
        guard isInside else { continue }
        compared += 1
        #expect(result[x, y].isWithin(2, of: expected[x, y]))
      }
    }
    #expect(compared > 1500)
  }
}

extension SIMD4<UInt8> {
  /// The largest difference between colours as far as they are visible.
  fileprivate func visibleDifference(from other: Self) -> Int {
    (0..<3).map { component in
      abs(Int(self[component]) * Int(w) - Int(other[component]) * Int(other.w)) / 255
    }.max() ?? 0
  }
}
