import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct QOITests {
  static let fixtures = [("rgb", "lossless"), ("rgba", "lossless-alpha")]

  @Test(arguments: fixtures)
  func everyKindDecodesAsAnotherDecoderHasIt(name: String, reference: String) throws {
    let decoded = try decode(Fixture.data("\(name).qoi"))

    #expect(decoded.info.format == .qoi)
    #expect(decoded.info.streamsRows)
    #expect(decoded.info.hasAlpha == (name == "rgba"))
    #expect(decoded.bitmap.largestDifference(from: try Fixture.reference(reference)) == 0)
  }

  @Test(arguments: fixtures)
  func whatIsWrittenIsNoLongerThanAnotherEncodersFile(name: String, reference: String) throws {
    let picture = try Fixture.reference(reference)

    let written = try picture.encoded(as: .qoi)

    #expect(try written.count <= Fixture.data("\(name).qoi").count)
    #expect(try Bitmap(decoding: written).largestDifference(from: picture) == 0)
  }

  @Test(arguments: [1, 61, 62, 63, 124, 125, 200], [false, true])
  func runsOfAnyLengthComeBack(width: Int, isTransparent: Bool) throws {
    let color = SIMD4<UInt8>(0, 0, 0, isTransparent ? 0 : 255)
    let picture = Bitmap.pixels(width: width, height: 2) { x, y in
      x == width - 1 && y == 1 ? SIMD4(200, 100, 50, 255) : color
    }

    let decoded = try decode(picture.encoded(as: .qoi)).bitmap

    #expect(decoded.largestDifference(from: picture) == 0)
  }

  @Test(arguments: 0..<20)
  func anyPictureComesBack(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    // Steps of every size, from those that are coded as a difference to those that are not.
    let step = UInt8(1 << (seed % 8))
    var pixel = SIMD4<UInt8>(10, 20, 30, 255)
    let pixels = (0..<600).map { _ in
      if Int.random(in: 0..<4, using: &generator) > 0 {
        for index in 0..<(seed % 2 == 0 ? 3 : 4) {
          pixel[index] &+= .random(in: 0...step, using: &generator) &- step / 2
        }
      }
      return pixel
    }
    let picture = Bitmap.pixels(width: 30, height: 20) { x, y in pixels[y * 30 + x] }

    let decoded = try decode(picture.encoded(as: .qoi)).bitmap

    #expect(decoded.largestDifference(from: picture) == 0)
  }

  @Test
  func theRowsBeforeTheCutAreThere() throws {
    let file = try Fixture.data("rgb.qoi")

    let decoded = try decode(file.prefix(file.count / 2)) { $0.acceptsPartial = true }

    let whole = try Fixture.reference("lossless")
    #expect(decoded.damage?.code == .truncated)
    #expect((0..<61).allSatisfy { decoded.bitmap[$0, 5] == whole[$0, 5] })
    #expect(decoded.bitmap[0, 42].w == 0)
  }

  @Test(arguments: [(12, 5), (12, 2), (13, 2)])
  func aHeaderWithoutSenseIsCorrupt(offset: Int, value: UInt8) throws {
    let file = try Fixture.data("rgb.qoi").replacing(offset, with: value)

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func hugeSizesAreRefusedByTheHeader() {
    let file = Data(.text("qoif") + .big32(60_000) + .big32(60_000) + [3, 0] + [0xC0])

    #expect(failure { try decode(file, .pixels(8, 8)) }?.code == .overLimit)
  }

  @Test
  func decodingIsGivenUpWhenAsked() throws {
    let file = try Fixture.data("rgb.qoi")
    let questions = Counter()

    let error = failure { try decode(file) { $0.isCancelled = { questions.increase() > 2 } } }

    #expect(error?.code == .cancelled)
  }
}
