import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct RegistryTests {
  static func color(_ registry: DecoderRegistry) throws -> SIMD4<UInt8> {
    try registry.decode(StubDecoder.file).bitmap[3, 3]
  }

  @Test
  func theStandardDecodersReadEightFormats() {
    let own: [ImageFormat] = [.jpeg, .png, .apng, .webp, .gif, .bmp, .ico, .qoi]
    let all = DecoderRegistry.standard.formats
    #expect(Array(all.prefix(own.count)) == own)
    let external = all.filter { $0.row.codec != nil }
    #expect(external == (Shape.isApple ? [.avif, .heic, .tiff] : []))
  }

  @Test
  func aDecoderOfOnesOwnReadsAFormatOfItsOwn() throws {
    var registry = DecoderRegistry([JPEGDecoder()])

    registry.add(StubDecoder())

    #expect(try Self.color(registry) == SIMD4(10, 20, 30, 255))
    #expect(registry.formats == [.qoi, .jpeg])
  }

  @Test
  func theFirstDecoderIsAskedFirst() throws {
    let registry = DecoderRegistry([StubDecoder(color: SIMD4(1, 1, 1, 255)), StubDecoder(color: SIMD4(2, 2, 2, 255))])

    #expect(try Self.color(registry) == SIMD4(1, 1, 1, 255))
  }

  @Test
  func theDecoderAddedLastIsAskedFirst() throws {
    var registry = DecoderRegistry([StubDecoder(color: SIMD4(1, 1, 1, 255))])

    registry.add(StubDecoder(color: SIMD4(2, 2, 2, 255)))

    #expect(try Self.color(registry) == SIMD4(2, 2, 2, 255))
  }

  @Test(arguments: [StubDecoder(declinesInfo: true), StubDecoder(declinesToOpen: true)])
  func whatOneDeclinesTheNextIsAsked(declining: StubDecoder) throws {
    let registry = DecoderRegistry([declining, StubDecoder(color: SIMD4(2, 2, 2, 255))])

    #expect(try Self.color(registry) == SIMD4(2, 2, 2, 255))
  }

  @Test(arguments: [StubDecoder(declinesInfo: true), StubDecoder(declinesToOpen: true)])
  func whatAllDeclineIsUnsupported(declining: StubDecoder) {
    let error = failure { try DecoderRegistry([declining]).decode(StubDecoder.file) }

    #expect(error?.code == .unsupported)
    #expect(error?.format == .qoi)
  }

  @Test
  func theRowsOfADecoderOfOnesOwnAreResampled() throws {
    let bitmap = try DecoderRegistry([StubDecoder()]).decode(StubDecoder.file, DecodeOptions(size: .pixels(4, 4)))
      .bitmap

    #expect(bitmap.size == [4, 3])
    #expect(bitmap.pixels.allSatisfy { $0 == SIMD4(10, 20, 30, 255) })
  }

  @Test(arguments: [nil, TargetSize.pixels(4, 4)])
  func rowsThatEndTooEarlyAreTruncation(size: TargetSize?) {
    let registry = DecoderRegistry([StubDecoder(rowCount: 3)])

    let error = failure { try registry.decode(StubDecoder.file, DecodeOptions(size: size)) }

    #expect(error?.code == .truncated)
  }

  @Test
  func rowsThatEndTooEarlyArePartOfAPicture() throws {
    var options = DecodeOptions()
    options.acceptsPartial = true

    let decoded = try DecoderRegistry([StubDecoder(rowCount: 4)]).decode(StubDecoder.file, options)

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.rows(0..<4).pixels.allSatisfy { $0 == SIMD4(10, 20, 30, 255) })
    #expect(decoded.bitmap.rows(4..<6).pixels.allSatisfy { $0.w == 0 })
  }

  @Test
  func aDecoderThatIsAddedToACopyIsInNoOther() {
    var copy = DecoderRegistry.standard

    copy.add(StubDecoder(formats: [.jxl]))

    #expect(copy.formats == [.jxl] + DecoderRegistry.standard.formats)
    #expect(!DecoderRegistry.standard.formats.contains(.jxl))
    #expect(copy.hasForeignDecoders)
    #expect(!DecoderRegistry.standard.hasForeignDecoders)
  }

  @Test
  func oneFileIsDecodedOnManyThreadsAtOnce() async throws {
    let file = try Fixture.data("progressive-420.jpg")
    let expected = try Bitmap(decoding: file)

    let differences = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask { try Bitmap(decoding: file).largestDifference(from: expected) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    #expect(differences == Array(repeating: 0, count: 8))
  }

  @Test
  func formatsAreTheSameWhenTheirNamesAre() {
    let own = ImageFormat(name: "jpeg", mediaType: "image/x-own", fileExtension: "own")

    #expect(own == .jpeg)
    #expect(Set([own, .jpeg]).count == 1)
  }
}
