import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images that arrive piece by piece: the same in the end, and little work on the way.
struct IncrementalTests {
  static let photographs = [
    "lighthouse-progressive.jpg", "macaws-444.jpg", "white-lighthouse-adam7.png", "aeroplane-rgb.png",
    "spinnakers-interlaced.gif", "boats-animated.gif", "motocross-lossy.webp", "harbour-pier-lossless.webp",
    "houses-animated.webp", "waterfall-visitor-orientation-7.jpg",
  ]

  static let samples = photographs.map { Source.photograph($0) } + DamageTests.all.map { Source.sample($0) }

  /// A photograph, or one of the small files.
  enum Source: Sendable {
    case photograph(String)
    case sample(DamageTests.Sample)

    func data() throws -> Data {
      switch self {
      case .photograph(let name): try Photograph.data(name)
      case .sample(let sample): try sample.data()
      }
    }

    /// Byte by byte where that does not take long.
    var pieces: [Int] {
      switch self {
      case .photograph: [4096, 65_536, .max]
      case .sample: [1, 17, 4096, .max]
      }
    }
  }

  @Test(arguments: samples)
  func theImageIsThatOfAllBytesAtOnce(source: Source) throws {
    let file = try source.data()
    let options = DecodeOptions(size: .pixels(120, 120))
    let whole = try DecoderRegistry.standard.decode(file, options)

    for pieces in source.pieces {
      let feeding = try Feeding.of(file, pieces: pieces, options, policy: .eager)

      let image = try feeding.decoder.image()
      #expect(image.bitmap.size == whole.bitmap.size)
      #expect(image.bitmap.largestDifference(from: whole.bitmap) == 0)
      #expect(image.info == whole.info)
      #expect(feeding.decoder.data == file)
    }
  }

  @Test(arguments: photographs)
  func theHeaderIsKnownAsSoonAsADecoderCanReadIt(name: String) throws {
    let file = try Photograph.data(name)
    let earliest = try #require(
      // An animation without a frame so far counts one, which lasts no time.
      (32..<20_000).first {
        (try? info(file.prefix($0))).map { !name.contains("animated.webp") || $0.duration > 0 } ?? false
      }
    )

    let feeding = try Feeding.of(file.prefix(20_000), pieces: 1, policy: .none)

    // A chunk's name, or a frame's first bytes, may be what tells that the header is over.
    let known = try #require(feeding.headerByteCount)
    #expect(known >= earliest && known <= earliest + 24)
    #expect(feeding.decoder.info?.width == (try info(file).width))
    #expect(feeding.decoder.info?.height == (try info(file).height))
  }

  @Test(arguments: ["lighthouse-progressive.jpg", "white-lighthouse-adam7.png", "yacht-lossy-alpha.webp"], [1, 97])
  func decodersAreCalledAHandfulOfTimesHoweverSmallThePieces(name: String, pieces: Int) throws {
    let file = try Photograph.data(name)
    let decoders: [any ImageDecoder] = [JPEGDecoder(), PNGDecoder(), WebPDecoder(), GIFDecoder()]
    let counting = decoders.map { CountingDecoder($0) }

    let feeding = try Feeding.of(
      file,
      pieces: pieces,
      DecodeOptions(size: .pixels(40, 40)),
      policy: .eager,
      decoders: DecoderRegistry(counting),
    )
    _ = try feeding.decoder.image()

    #expect(counting.reduce(0) { $0 + $1.decodes.count } <= 1 + PreviewPolicy().limit)
    #expect(counting.reduce(0) { $0 + $1.headers.count } <= 2 + PreviewPolicy().limit)
  }

  @Test
  func anImageThatIsTooLargeIsRefusedByItsHeader() throws {
    let file = try Photograph.data("waterfall-cliff-large.jpg")
    var options = DecodeOptions()
    options.limits.pixelCount = 1000
    var feeding = Feeding(options)

    #expect(failure { try feeding.feed(file, pieces: 100) }?.code == .overLimit)
    let taken = feeding.decoder.data.count
    #expect(taken < file.count / 10)

    #expect(failure { try feeding.decoder.append(Data([0])) }?.code == .overLimit)
    #expect(failure { try feeding.decoder.image() }?.code == .overLimit)
    #expect(feeding.decoder.data.count == taken)
  }

  @Test
  func aSizeThatIsNoneIsRefusedByTheHeader() throws {
    let file = try Photograph.data("macaws-444.jpg")
    var feeding = Feeding(DecodeOptions(size: .pixels(-1, 10)))

    #expect(failure { try feeding.feed(file, pieces: 100) }?.code == .invalidSize)
  }

  @Test
  func whatIsNoImageIsRefusedWithinTheFirstKilobytes() throws {
    var feeding = Feeding()

    #expect(failure { try feeding.feed(Data(repeating: 0x20, count: 100_000), pieces: 512) }?.code == .unrecognised)
    #expect(feeding.decoder.data.count <= 5120)
  }

  @Test
  func tooFewBytesAreWhatTheyAreForOneDecode() throws {
    var feeding = Feeding()
    #expect(failure { try feeding.decoder.image() }?.code == .unrecognised)

    try feeding.feed(Photograph.data("macaws-444.jpg").prefix(20), pieces: 1)

    #expect(feeding.decoder.info == nil)
    #expect(failure { try feeding.decoder.image() }?.code == .truncated)
  }

  @Test
  func aDecoderOfOnesOwnIsAskedAndHasNoPreviews() throws {
    let stub = CountingDecoder(StubDecoder())
    let file = StubDecoder.file + Data(repeating: 7, count: 5000)

    let feeding = try Feeding.of(file, pieces: 1, policy: .eager, decoders: DecoderRegistry([stub]))

    #expect(feeding.headerByteCount == 32)
    #expect(feeding.previews.isEmpty)
    #expect(try feeding.decoder.image().bitmap.size == [8, 6])
    #expect(stub.decodes.count == 1)
  }

  @Test(arguments: DamageTests.all)
  func aFileCutShortIsAnErrorUnlessAPartIsAskedFor(sample: DamageTests.Sample) throws {
    let file = try sample.data()

    for count in stride(from: 33, to: file.count, by: max(1, file.count / 20)) {
      let prefix = file.prefix(count)
      let feeding = try Feeding.of(prefix, pieces: 7, policy: .eager)
      let expected = Result { try decode(prefix) }
      switch expected {
      case .success(let image): #expect(try feeding.decoder.image().bitmap.pixels == image.bitmap.pixels)
      case .failure(let error): #expect(failure { try feeding.decoder.image() } == error as? ImageError)
      }

      var options = DecodeOptions()
      options.acceptsPartial = true
      let partial = try? decode(prefix) { $0 = options }
      let asked = try? Feeding.of(prefix, pieces: 64, options, policy: .eager).decoder.image()
      #expect(asked?.damage == partial?.damage)
      #expect(asked?.bitmap.pixels == partial?.bitmap.pixels)
    }
  }

  @Test(arguments: DamageTests.all)
  func whatIsDamagedEndsAsItDoesAtOnce(sample: DamageTests.Sample) throws {
    let file = try sample.data()
    var generator = SplitMix64(seed: 59)

    for _ in 0..<60 {
      var damaged = file
      for _ in 0..<3 {
        damaged = damaged.replacing(
          .random(in: 20..<file.count, using: &generator),
          with: .random(in: 0...255, using: &generator),
        )
      }
      let expected = Result { try decode(damaged, .pixels(9, 9)) }
      // What is wrong with a header may be seen before all of it has come, and another fault first.
      let feeding = try? Feeding.of(damaged, pieces: 50, DecodeOptions(size: .pixels(9, 9)), policy: .eager)
      switch expected {
      case .success(let image):
        #expect(try feeding?.decoder.image().bitmap.pixels == image.bitmap.pixels)
      case .failure:
        #expect(feeding.flatMap { try? $0.decoder.image() } == nil)
      }
    }
  }

  @Test
  func aCopyGoesItsOwnWay() throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    var first = Feeding()
    try first.feed(file.prefix(30_000), pieces: 1000)

    var second = first
    try second.feed(file.suffix(from: 30_000), pieces: 1000)

    #expect(first.decoder.data.count == 30_000)
    #expect(try second.decoder.image().damage == nil)
    #expect(failure { try first.decoder.image() }?.code == .truncated)
  }
}
