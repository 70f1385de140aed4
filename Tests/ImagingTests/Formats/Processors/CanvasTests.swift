import Testing
import VitrineImaging
import VitrineTesting

/// The area around images: padding, canvases, trimming.
@Suite
struct CanvasTests {
  private static let red = PixelColor(0xFF0000)

  /// A blue picture of one colour.
  private static func blue(_ width: Int, _ height: Int, alpha: UInt8 = 255) throws -> Bitmap {
    let opaque = unsafe Bitmap(width: width, height: height, alpha: .straight) { memory in
      // Every byte is written.
      for place in memory.indices { unsafe memory[place] = [0, 0, 255, alpha][place % 4] }
    }
    return alpha == 255 ? try ImageProcessor.background(.white).process(opaque) : opaque
  }

  @Test
  func paddingIsOnItsSide() throws {
    let picture = try Self.blue(10, 20)
    let result = try ImageProcessor.padding(top: 1, right: 2, bottom: 3, left: .fraction(0.5), color: Self.red)
      .process(picture)
    #expect((result.width, result.height) == (17, 24))
    #expect(result.alpha == .opaque)
    #expect(result[4, 1] == SIMD4(255, 0, 0, 255))
    #expect(result[5, 0] == SIMD4(255, 0, 0, 255))
    #expect(result[5, 1] == SIMD4(0, 0, 255, 255))
    #expect(result[14, 20] == SIMD4(0, 0, 255, 255))
    #expect(result[15, 20] == SIMD4(255, 0, 0, 255))
    #expect(result[14, 21] == SIMD4(255, 0, 0, 255))
  }

  @Test
  func withoutAColorTheSpaceIsTransparent() throws {
    let result = try ImageProcessor.padding(top: 1).process(try Self.blue(2, 2))
    #expect(result.alpha == .straight)
    #expect(result[0, 0] == SIMD4(0, 0, 0, 0))
    #expect(result[0, 1] == SIMD4(0, 0, 255, 255))
  }

  @Test
  func whatIsLargeEnoughStaysAsItIs() throws {
    let picture = try Self.blue(10, 20)
    for step in [.padding(), .canvas(width: 10, height: 5), .canvas(aspectRatio: 0.5)] as [ImageProcessor] {
      #expect(try step.process(picture).isSamePixels(as: picture), "\(step)")
    }
  }

  @Test
  func theImageIsAtItsPlaceOnTheCanvas() throws {
    let picture = try Self.blue(4, 2)
    func place(_ step: ImageProcessor) throws -> [Int] {
      let result = try step.process(picture)
      let places = (0..<result.height).flatMap { y in (0..<result.width).map { ($0, y) } }
      let first = places.first { result[$0.0, $0.1].z == 255 }
      return [result.width, result.height, first?.0 ?? -1, first?.1 ?? -1]
    }
    #expect(try place(.canvas(width: 10, height: 8, color: Self.red)) == [10, 8, 3, 3])
    #expect(try place(.canvas(width: 10, height: 8, at: .bottomRight, color: Self.red)) == [10, 8, 6, 6])
    #expect(try place(.canvas(width: 10, height: 8, at: .topLeft, offset: (2, .fraction(0.5)))) == [10, 8, 2, 4])
    #expect(try place(.canvas(width: 10, height: 8, at: .topLeft, offset: (99, -99))) == [10, 8, 6, 0])
    #expect(try place(.canvas(aspectRatio: 1, at: .top)) == [4, 4, 0, 0])
    #expect(try place(.canvas(aspectRatio: 4, at: .right)) == [8, 2, 4, 0])
  }

  @Test
  func translucentImagesAreNotMixedWithTheCanvas() throws {
    let result = try ImageProcessor.padding(left: 1, color: Self.red).process(try Self.blue(2, 2, alpha: 100))
    #expect(result.alpha == .straight)
    #expect(result[1, 0] == SIMD4(0, 0, 255, 100))
  }

  @Test
  func edgesOfOneColorAreRemoved() throws {
    let framed = try ImageProcessor.padding(top: 1, right: 2, bottom: 3, left: 4, color: Self.red)
      .process(try Self.blue(10, 20))
    func size(_ step: ImageProcessor) throws -> [Int] {
      let result = try step.process(framed)
      return [result.width, result.height]
    }
    #expect(try size(.trim()) == [10, 20])
    #expect(try size(.trim(color: Self.red)) == [10, 20])
    #expect(try size(.trim(color: PixelColor(0xF50500))) == [10, 20])
    #expect(try size(.trim(tolerance: 9, color: PixelColor(0xF50500))) == [16, 24])
    #expect(try size(.trim(color: .white)) == [16, 24])
    #expect(try size(.trim(isEqualHorizontally: true)) == [12, 20])
    #expect(try size(.trim(isEqualVertically: true)) == [10, 22])
  }

  @Test
  func anImageOfOneColorIsNotTrimmedAway() throws {
    let picture = try Self.blue(3, 4)
    #expect(try ImageProcessor.trim().process(picture).isSamePixels(as: picture))
  }

  @Test
  func transparentEdgesAreEqualInAllColors() throws {
    let picture = try ImageProcessor.padding(left: 2, color: PixelColor(red: 9, green: 9, blue: 9, alpha: 0))
      .process(ImageProcessor.padding(left: 2).process(try Self.blue(3, 4)))
    #expect(try ImageProcessor.trim(tolerance: 0).process(picture).width == 3)
  }

  /// As in imgproxy, magenta is the key of transparency: as a name, and as the colour behind what is translucent.
  @Test(arguments: ["trim:10:ff00ff", "trim:10"])
  func transparentPixelsAreMagentaForTheOperation(text: String) throws {
    func trimmed(_ edge: PixelColor) throws -> [Int] {
      let framed = try ImageProcessor.padding(top: 1, left: 2, color: edge).process(try Self.blue(3, 4))
      let result = try ImageOperations(text).plan().processors.reduce(framed) { try $1.process($0) }
      return [result.width, result.height]
    }
    #expect(try trimmed(PixelColor(red: 9, green: 90, blue: 9, alpha: 0)) == [3, 4])
    #expect(try trimmed(PixelColor(red: 255, green: 255, blue: 255, alpha: 8)) == [3, 4])
    #expect(try trimmed(PixelColor(0xFF00FF)) == [3, 4])
    // Another colour is an edge only if none is named.
    let other = PixelColor(red: 255, green: 255, blue: 255, alpha: 60)
    #expect(try trimmed(other) == (text == "trim:10" ? [3, 4] : [5, 5]))
  }

  @Test(
    arguments: [
      .padding(top: -1), .padding(left: .fraction(.infinity)), .padding(right: 1e9),
      .canvas(width: .pixels(.nan), height: 1),
      .canvas(width: 1e9, height: 1e9), .canvas(aspectRatio: 0), .canvas(aspectRatio: .nan), .canvas(aspectRatio: 1e-9),
      .canvas(width: 1, height: 99, offset: (0, .pixels(.nan))), .trim(tolerance: -1), .trim(tolerance: .nan),
    ] as [ImageProcessor]
  )
  func impossibleNumbersAreErrors(step: ImageProcessor) throws {
    let picture = try Self.blue(3, 4)
    #expect(throws: ImageError.self) { try step.process(picture) }
  }

  @Test
  func parametersAreInTheIdentifier() {
    let steps: [ImageProcessor] = [
      .padding(), .padding(top: 1), .padding(right: 1), .padding(bottom: 1), .padding(left: 1), .padding(color: .white),
      .canvas(width: 1, height: 2), .canvas(width: 2, height: 1), .canvas(width: 1, height: 2, at: .top),
      .canvas(width: 1, height: 2, offset: (1, 0)), .canvas(width: 1, height: 2, offset: (0, 1)),
      .canvas(width: 1, height: 2, color: .white), .canvas(aspectRatio: 1), .canvas(aspectRatio: 1, at: .top),
      .trim(), .trim(tolerance: 1), .trim(color: .white), .trim(isEqualHorizontally: true),
      .trim(isEqualVertically: true),
    ]
    #expect(Set(steps.map(\.identifier)).count == steps.count)
  }
}
