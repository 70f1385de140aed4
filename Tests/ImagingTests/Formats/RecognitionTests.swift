import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Formats that Vitrine does not know, and decoders that do.
struct RecognitionTests {
  private static let mark = ImageFormat(name: "mark", mediaType: "image/x-mark", fileExtension: "mark")
  private static let other = ImageFormat(name: "other", mediaType: "image/x-other", fileExtension: "other")
  /// A file of its format, and some more bytes than tell it.
  private static let file = Data([UInt8].text("MARK") + [UInt8](repeating: 7, count: 20_000))

  private static func decoder(
    _ formats: [ImageFormat] = [mark],
    color: UInt8 = 10,
    declines: Bool = false,
    _ recognize: @escaping @Sendable (Data) -> ImageFormat? = { bytes in
      bytes.starts(with: [UInt8].text("MARK")) ? mark : nil
    },
  ) -> MarkDecoder {
    let stub = StubDecoder(formats: formats, color: SIMD4(color, color, color, 255), declinesInfo: declines)
    return MarkDecoder(stub: stub, recognize: recognize)
  }

  @Test
  func aFormatThatOnlyItsDecoderKnowsIsDecoded() throws {
    let registry = DecoderRegistry([JPEGDecoder(), Self.decoder()])

    #expect(try registry.decode(Self.file).bitmap[0, 0] == SIMD4(10, 10, 10, 255))
    #expect(try registry.info(of: Self.file).format == Self.mark)
    #expect(registry.format(of: Self.file) == Self.mark)
  }

  @Test
  func whatNobodyKnowsIsNotRecognised() {
    let registry = DecoderRegistry([JPEGDecoder(), Self.decoder { _ in nil }])

    #expect(failure { try registry.decode(Self.file) }?.code == .unrecognised)
    #expect(registry.format(of: Self.file) == nil)
  }

  @Test
  func aDecoderIsNotAskedWhatVitrineKnows() throws {
    let registry = DecoderRegistry([
      Self.decoder { _ in
        Issue.record("asked")
        return Self.mark
      },
      PNGDecoder(),
    ])

    #expect(try registry.info(of: Bitmap.testPattern(width: 4, height: 4).encoded(as: .png)).format == .png)
  }

  @Test
  func anAnswerThatIsNoneOfItsFormatsCountsForNothing() {
    let registry = DecoderRegistry([Self.decoder([Self.other])])

    #expect(failure { try registry.decode(Self.file) }?.code == .unrecognised)
  }

  @Test
  func theFirstThatKnowsAndDoesNotDeclineIsTaken() throws {
    let registry = DecoderRegistry([
      Self.decoder([Self.other], declines: true) { _ in Self.other }, Self.decoder(color: 20), Self.decoder(color: 30),
    ])

    #expect(registry.format(of: Self.file) == Self.other)
    #expect(try registry.decode(Self.file).bitmap[0, 0] == SIMD4(20, 20, 20, 255))
  }

  @Test
  func whatAllDeclineThatKnowItIsUnsupported() {
    let error = failure { try DecoderRegistry([Self.decoder(declines: true)]).decode(Self.file) }

    #expect(error?.code == .unsupported)
    #expect(error?.format == Self.mark)
  }

  @Test
  func aDecoderOfOnesOwnForAFormatThatVitrineKnowsComesFirst() throws {
    var registry = DecoderRegistry([PNGDecoder()])
    registry.add(StubDecoder(formats: [.png], color: SIMD4(1, 2, 3, 255)))

    let png = try Bitmap.testPattern(width: 4, height: 4).encoded(as: .png)

    #expect(try registry.decode(png).bitmap[0, 0] == SIMD4(1, 2, 3, 255))
  }

  @Test(arguments: [1, 31, 1000, 20_004])
  func aFileThatArrivesIsRecognisedByItsDecoder(pieces: Int) throws {
    let decoders = DecoderRegistry([JPEGDecoder(), Self.decoder()])

    let feeding = try Feeding.of(Self.file, pieces: pieces, decoders: decoders)

    #expect(feeding.decoder.info?.format == Self.mark)
    #expect(try feeding.decoder.image().bitmap[0, 0] == SIMD4(10, 10, 10, 255))
    // The beginning is enough.
    #expect(try #require(feeding.headerByteCount) <= 32 + pieces)
  }

  @Test(arguments: [1, 1000, 20_004])
  func aFileThatIsOnlyKnownByItsEndDoesNotFailOnTheWay(pieces: Int) throws {
    let count = Self.file.count
    let decoders = DecoderRegistry([
      JPEGDecoder(), Self.decoder { bytes in bytes.count == count ? Self.mark : nil },
    ])

    let feeding = try Feeding.of(Self.file, pieces: pieces, decoders: decoders)

    #expect(try feeding.decoder.image().info.format == Self.mark)
  }

  @Test
  func whatIsNoImageStillFailsAtItsBeginning() {
    let page = Data([UInt8].text("<!doctype html><html>" + String(repeating: "x", count: 10_000)))
    var (own, foreign) = (
      IncrementalDecoder(decoders: DecoderRegistry([JPEGDecoder()])),
      IncrementalDecoder(decoders: DecoderRegistry([JPEGDecoder(), Self.decoder()])),
    )

    #expect(failure { try own.append(page.prefix(5000)) }?.code == .unrecognised)
    #expect(failure { try foreign.append(page.prefix(5000)) }?.code == .unrecognised)
  }
}

/// A decoder that says itself what it knows.
private struct MarkDecoder: ImageDecoder {
  let stub: StubDecoder
  let recognize: @Sendable (Data) -> ImageFormat?

  var formats: [ImageFormat] { stub.formats }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
    // Copied within the call.
    unsafe recognize(Data(bytes))
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try unsafe stub.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try unsafe stub.open(bytes, request)
  }
}
