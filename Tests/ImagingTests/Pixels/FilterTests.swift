import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The filters, and adding up light.
struct FilterTests {
  static let sizes: [[Int]] = [
    [49, 37], [50, 37], [23, 19], [49, 12], [16, 38], [120, 90], [50, 80], [13, 11], [1, 1],
  ]

  static func size(_ size: [Int]) -> TargetSize {
    .pixels(Double(size[0]), Double(size[1]), .exact, enlarges: true)
  }

  @Test(arguments: ResamplingFilter.allCases, sizes)
  func everyFilterIsThatOfTheBooks(filter: ResamplingFilter, size: [Int]) throws {
    for alpha in [true, false] {
      // Up to three times the size no blocks are averaged first.
      let side = size.min() == 1 ? 3 : 38
      let picture = Bitmap.busy(width: min(50, side + 12), height: side, alpha: alpha)
      guard picture.width < size[0] * 4, picture.height < size[1] * 4 else { continue }

      let result = try picture.resized(to: Self.size(size), filter: filter)

      let expected = ReferenceResampler(filter: filter).resample(picture, width: size[0], height: size[1])
      #expect(result.premultiplied().largestDifference(from: expected.premultiplied()) <= 1)
    }
  }

  @Test(arguments: ResamplingFilter.allCases, sizes)
  func everyFilterAddsLightAsTheBooksDo(filter: ResamplingFilter, size: [Int]) throws {
    let picture = Bitmap.busy(width: 40, height: 30, alpha: false)
    guard picture.width < size[0] * 4, picture.height < size[1] * 4 else { return }

    let result = try picture.resized(to: Self.size(size), filter: filter, usesLinearLight: true)

    let expected = ReferenceResampler(filter: filter, usesLinearLight: true)
      .resample(picture, width: size[0], height: size[1])
    #expect(result.largestDifference(from: expected) <= 1)
  }

  @Test
  func lightWithCoverageIsThatOfTheBooks() throws {
    let picture = Bitmap.busy(width: 40, height: 30, alpha: true)

    let result = try picture.resized(to: Self.size([21, 17]), usesLinearLight: true)

    let expected = ReferenceResampler(usesLinearLight: true).resample(picture, width: 21, height: 17)
    #expect(result.premultiplied().largestDifference(from: expected.premultiplied()) <= 1)
  }

  @Test(arguments: ResamplingFilter.allCases, [true, false])
  func averagingBlocksFirstIsThatOfTheBooksForEveryFilter(filter: ResamplingFilter, light: Bool) throws {
    let picture = Bitmap.busy(width: 120, height: 120, alpha: false)

    let result = try picture.resized(to: .pixels(20, 20), filter: filter, usesLinearLight: light)

    // A box is a mean already; nothing is averaged before it.
    let expected = ReferenceResampler(box: filter == .box ? 1 : 3, filter: filter, usesLinearLight: light)
      .resample(picture, width: 20, height: 20)
    #expect(result.largestDifference(from: expected) <= 1)
  }

  @Test(arguments: ResamplingFilter.allCases, [true, false])
  func aColourStaysThatColourUnderEveryFilter(filter: ResamplingFilter, light: Bool) throws {
    for size in Self.sizes {
      for level in stride(from: 0, through: 255, by: 17) {
        let color = SIMD4(UInt8(level), UInt8(255 - level), 128, 255)

        let result = try Bitmap.solid(color, width: 33, height: 31)
          .resized(to: Self.size(size), filter: filter, usesLinearLight: light)

        #expect(result.largestDifference(from: .solid(color, width: size[0], height: size[1])) == 0)
      }
    }
  }

  @Test(arguments: ResamplingFilter.allCases, [true, false])
  func noFilterLetsBleedWhatIsTransparent(filter: ResamplingFilter, light: Bool) throws {
    let picture = Bitmap.pixels(width: 80, height: 40) { x, _ in x < 40 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 255, 0, 0) }

    for width in [200, 53, 6] {
      let result = try picture.resized(to: Self.size([width, 20]), filter: filter, usesLinearLight: light)

      #expect(result.pixels.allSatisfy { $0.w == 0 || ($0.x == 255 && $0.y == 0 && $0.z == 0) })
    }
  }

  @Test
  func aCheckerboardKeepsItsLight() throws {
    let board = Bitmap.pixels(width: 64, height: 64, alpha: .opaque) { x, y in
      (x + y).isMultiple(of: 2) ? SIMD4(255, 255, 255, 255) : SIMD4(0, 0, 0, 255)
    }

    let light = try board.resized(to: .pixels(16, 16), filter: .box, usesLinearLight: true)
    let numbers = try board.resized(to: .pixels(16, 16), filter: .box)

    #expect(light.largestDifference(from: .solid(SIMD4(188, 188, 188, 255), width: 16, height: 16)) == 0)
    #expect(numbers.largestDifference(from: .solid(SIMD4(128, 128, 128, 255), width: 16, height: 16)) == 0)
  }

  @Test
  func aBoxEnlargesPixelsToSquares() throws {
    let picture = Bitmap.busy(width: 7, height: 5, alpha: false)

    let result = try picture.resized(to: .pixels(21, 15, enlarges: true), filter: .box)

    let expected = Bitmap.pixels(width: 21, height: 15, alpha: .opaque) { x, y in picture[x / 3, y / 3] }
    #expect(result.largestDifference(from: expected) == 0)
  }

  @Test
  func bilinearEnlargingLiesBetweenNeighbours() throws {
    let picture = Bitmap.pixels(width: 2, height: 1, alpha: .opaque) { x, _ in
      x == 0 ? SIMD4(0, 0, 0, 255) : SIMD4(200, 200, 200, 255)
    }

    let result = try picture.resized(to: .pixels(4, 1, .exact, enlarges: true), filter: .bilinear)

    #expect((0..<4).map { result[$0, 0].x } == [0, 50, 150, 200])
  }

  @Test(arguments: ResamplingFilter.allCases)
  func decodingUsesTheFilterAskedFor(filter: ResamplingFilter) throws {
    let picture = Bitmap.busy(width: 60, height: 44, alpha: false)
    // No decoder makes it smaller.
    let file = try picture.encoded(as: .qoi)

    for light in [true, false] {
      let decoded = try decode(file, .pixels(25, 25)) { options in
        options.filter = filter
        options.usesLinearLight = light
      }

      let resized = try picture.resized(to: .pixels(25, 25), filter: filter, usesLinearLight: light)
      #expect(decoded.bitmap.largestDifference(from: resized) == 0)
    }
  }

  @Test
  func theBestLightIsAddedFromAllPixelsOfAPhotograph() throws {
    let file = try Photograph.data("macaws-444.jpg")
    let whole = try Bitmap(decoding: file)

    let decoded = try decode(file, .pixels(60, 60)) { ($0.quality, $0.usesLinearLight) = (.best, true) }.bitmap

    #expect(decoded.largestDifference(from: try whole.resized(to: .pixels(60, 60), usesLinearLight: true)) == 0)
  }

  @Test
  func resizersThatDifferHaveOtherNames() {
    let size = TargetSize.pixels(10, 10, .fill)
    let names = ResamplingFilter.allCases.flatMap { filter in
      [true, false].map { ImageProcessor.resize(size, filter: filter, usesLinearLight: $0).identifier }
    }

    #expect(Set(names).count == 8)
    #expect(ImageProcessor.resize(size) == .resize(size, filter: .lanczos3))
    #expect(ImageProcessor.resize(size) != .resize(.pixels(10, 10, .fill, anchor: .top)))
  }
}
