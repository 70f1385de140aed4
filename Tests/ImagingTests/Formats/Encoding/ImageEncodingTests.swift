import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The choice of an encoder by format, options and what is preferred.
struct ImageEncodingTests {
  /// An encoder that writes its format and what it was given.
  private struct Note: ImageEncoder {
    let format: ImageFormat
    var features = EncoderFeatures.none

    struct Options: EncodingOptions {
      let identifier: String

      init(quality: Int?, isLossless: Bool) {
        identifier = "\(quality.map { "\($0)" } ?? "-") \(isLossless)"
      }
    }

    func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data {
      let parts = [
        "\(format)", options.identifier, "\(input.bitmap.colorSpace)", input.animation == nil ? "still" : "moving",
        input.exif == nil ? "-" : "exif", input.xmp == nil ? "-" : "xmp",
      ]
      return Data(parts.joined(separator: " ").utf8)
    }
  }

  private static let all = EncoderRegistry([
    Note(format: .avif, features: [.displayP3]), Note(format: .jxl), Note(format: .webp, features: [.animation]),
    Note(format: .jpeg), Note(format: .png), Note(format: .gif, features: [.animation]),
  ])
  private static let solid = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 2, height: 2)
  private static let clear = Bitmap.solid(SIMD4(1, 2, 3, 9), width: 2, height: 2)

  private func words(
    _ image: ImageContainer,
    _ encoding: ImageEncoding,
    _ encoders: EncoderRegistry = all,
  ) throws -> String {
    String(decoding: try encoders.encode(image, as: encoding).data, as: UTF8.self)
  }

  private func format(
    _ preferred: [ImageFormat],
    _ bitmap: Bitmap = solid,
    _ encoders: EncoderRegistry = all,
  ) throws -> ImageFormat {
    try encoders.encode(ImageContainer(bitmap), as: .automatic(preferring: preferred)).format
  }

  @Test
  func automaticTakesTheFirstThatIsPreferred() throws {
    #expect(try format([.avif, .webp]) == .avif)
    #expect(try format([.webp, .jxl]) == .webp)
    #expect(try format([.heic, .webp]) == .webp)
  }

  @Test
  func automaticFallsBackToWhatEveryoneReads() throws {
    for preferred in [[], [.heic]] as [[ImageFormat]] {
      #expect(try format(preferred) == .jpeg)
      #expect(try format(preferred, Self.clear) == .png)
      #expect(try format(preferred, Self.clear.declared(.opaque)) == .jpeg)
    }
  }

  /// Browsers show JPEG, PNG, WebP and GIF; of those none but PNG and WebP keep what is transparent.
  @Test(
    arguments: [
      (.jpeg, false, .jpeg), (.png, false, .png), (.webp, false, .webp), (.gif, false, .gif), (.apng, false, .png),
      (.jpeg, true, .png), (.png, true, .png), (.webp, true, .webp), (.gif, true, .png), (.avif, false, .jpeg),
      (.avif, true, .png), (.tiff, false, .jpeg), (.svg, true, .png), (.bitmap, false, .jpeg),
    ] as [(ImageFormat, Bool, ImageFormat)]
  )
  func automaticKeepsTheFormatOfTheFile(source: ImageFormat, isClear: Bool, expected: ImageFormat) throws {
    let encoders = EncoderRegistry([
      Note(format: .avif, features: [.alpha]), Note(format: .webp, features: [.animation, .alpha]), Note(format: .jpeg),
      Note(format: .png, features: [.alpha]), Note(format: .gif, features: [.animation]),
    ])
    let info = ImageInfo(format: source, storedWidth: 2, storedHeight: 2)
    var image = ImageContainer(isClear ? Self.clear : Self.solid, info: info)
    func format(_ preferred: ImageFormat...) throws -> ImageFormat {
      try encoders.encode(image, as: .automatic(preferring: preferred)).format
    }
    #expect(try format() == expected)
    // What the client prefers comes first.
    #expect(try format(.avif) == .avif)
    // What moves goes on moving.
    image.animation = try AnimatedImage(AnimatedImageTests.file(3))
    #expect(try format() == (source == .webp ? .webp : .gif))
    #expect(encoders.mayServe(source, as: .automatic()) == [.jpeg, .png, .apng, .webp, .gif].contains(source))
  }

  @Test
  func eachFormatOfAutomaticHasItsQuality() throws {
    let encoding = ImageEncoding.automatic(quality: 30, qualities: [.webp: 40])
    func words(_ format: ImageFormat) throws -> String {
      try self.words(
        ImageContainer(Self.solid, info: ImageInfo(format: format, storedWidth: 2, storedHeight: 2)),
        encoding,
      )
    }
    #expect(try words(.webp).hasPrefix("webp 40"))
    #expect(try words(.jpeg).hasPrefix("jpeg 30"))
    #expect(encoding != .automatic(quality: 30))
  }

  /// What goes beyond the limits is left out, whatever comes then.
  @Test(arguments: [(2, Int.max, 2), (Int.max, 20 * 14 * 3, 3), (Int.max, 1, 1), (1, Int.max, 1), (9, Int.max, 5)])
  func anAnimationHasAsManyFramesAsTheLimitsAllow(frames: Int, pixels: Int, expected: Int) throws {
    var encoders = EncoderRegistry.standard
    (encoders.animationLimits.frameCount, encoders.animationLimits.pixelCount) = (frames, pixels)
    let animation = try AnimatedImage(AnimatedImageTests.file(5))
    var image = ImageContainer(animation.poster, info: animation.info)
    image.animation = animation
    for format in [ImageFormat.gif, .webp] {
      let file = try encoders.encode(image, as: ImageEncoding(format)).data
      #expect(try DecoderRegistry.standard.info(of: file).frameCount == expected, "\(format)")
      #expect(animation.frameCount == 5)
    }
    // Caches keep them apart.
    #expect(encoders.identifier(of: .gif()) != EncoderRegistry.standard.identifier(of: .gif()))
  }

  @Test
  func automaticTakesNoFormatWithoutAnEncoder() throws {
    let few = EncoderRegistry([Note(format: .jpeg), Note(format: .webp)])
    #expect(try format([.avif, .webp], Self.solid, few) == .webp)
    #expect(try format([], Self.clear, few) == .jpeg)
    #expect(throws: ImageError.self) { try format([], Self.solid, EncoderRegistry([Note(format: .gif)])) }
  }

  @Test
  func anAnimationGoesToAFormatThatMoves() throws {
    var image = ImageContainer(Self.solid)
    image.animation = try AnimatedImage(AnimatedImageTests.file(3))
    func encode(_ preferred: ImageFormat...) throws -> String { try words(image, .automatic(preferring: preferred)) }
    #expect(try encode(.avif, .webp) == "webp - false sRGB moving - -")
    #expect(try encode(.avif) == "gif - false sRGB moving - -")
    #expect(try words(image, ImageEncoding(.avif)) == "avif - false sRGB still - -")
  }

  @Test
  func theQualityOfAutomaticReachesTheEncoder() throws {
    #expect(try words(ImageContainer(Self.solid), .automatic(quality: 30)).hasPrefix("jpeg 30 false"))
    #expect(
      try words(ImageContainer(Self.solid), ImageEncoding(.webp, quality: 300, isLossless: true)).hasPrefix(
        "webp 100 true"
      )
    )
  }

  @Test
  func whatAFormatHasNoPlaceForIsLeftOut() throws {
    var image = ImageContainer(Self.solid.converted(to: .displayP3))
    image.metadata = .made(exif: EXIFFile.named, xmp: "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>")
    #expect(try words(image, ImageEncoding(.avif).metadata(.keep)) == "avif - false displayP3 still - -")
    #expect(try words(image, ImageEncoding(.jpeg).metadata(.keep)) == "jpeg - false sRGB still - -")
    let exif = EncoderRegistry([Note(format: .jpeg, features: [.exif])])
    #expect(try words(image, ImageEncoding(.jpeg).metadata(.keep), exif) == "jpeg - false sRGB still exif -")
    let both = EncoderRegistry([Note(format: .jpeg, features: [.exif, .xmp])])
    #expect(try words(image, ImageEncoding(.jpeg).metadata(.keep), both) == "jpeg - false sRGB still exif xmp")
    #expect(try words(image, ImageEncoding(.jpeg), both) == "jpeg - false sRGB still - -")
  }

  @Test(arguments: [
    (ImageEncoding.jpeg(quality: 40, subsampling: .yuv444), "jpeg 40 false"), (.webp(quality: 7), "webp 7 false"),
    (.webp(quality: 3, isLossless: true), "webp 3 true"), (.png(.smallest), "png - true"), (.gif(), "gif - false"),
    (ImageEncoding(.avif, WebPOptions(quality: 9, isLossless: true)), "avif 9 true"),
    (ImageEncoding(.jpeg, OptionsOfNothing(quality: nil, isLossless: true)), "jpeg - false"),
  ])
  func qualityAndLosslessnessReachAnEncoderWithOtherOptions(encoding: ImageEncoding, words: String) throws {
    let formats = [ImageFormat.jpeg, .webp, .png, .gif, .avif]
    let registry = EncoderRegistry(formats.map { Note(format: $0) })
    #expect(try self.words(ImageContainer(Self.solid), encoding, registry).hasPrefix(words))
    // They are told apart in caches, too.
    #expect(registry.identifier(of: encoding) == "\(words)")
  }

  /// Options that say nothing about what all have in common.
  private struct OptionsOfNothing: EncodingOptions {
    init(quality: Int?, isLossless: Bool) {}
    var identifier: String { "" }
  }

  @Test
  func equalChoicesAreEqualAndHaveOneName() {
    let registry = EncoderRegistry.standard
    let pairs: [(ImageEncoding, ImageEncoding, isEqual: Bool)] = [
      (.jpeg(), .jpeg(quality: 85), true), (.jpeg(quality: 80), .jpeg(quality: 81), false),
      (.jpeg(), .jpeg(subsampling: .yuv444), false), (.jpeg(), .jpeg(isProgressive: true), false),
      (.png(), .png(.smallest), false), (.png(), .png().metadata(.keep), false),
      (.png().metadata(.only(.author, .camera)), .png().metadata(.only([.camera, .author])), true),
      (.automatic(preferring: [.webp]), .automatic(preferring: [.webp]), true),
      (.automatic(preferring: [.webp, .gif]), .automatic(preferring: [.gif, .webp]), false),
      (.automatic(quality: 5), .automatic(), false),
      (.gif(), .gif(colorCount: 255), false), (.gif(), .gif(dithering: .ordered), false), (.qoi(), .qoi(), true),
    ]
    for (left, right, isEqual) in pairs {
      #expect((left == right) == isEqual)
      if isEqual { #expect(left.hashValue == right.hashValue) }
      #expect((registry.identifier(of: left) == registry.identifier(of: right)) == isEqual)
    }
    // Two choices are one where what tells them apart cannot be written, as on Apple's systems.
    let (some, all) = (ImageEncoding.automatic(preferring: [.webp]), ImageEncoding.automatic())
    #expect(some != all)
    #expect((registry.identifier(of: some) == registry.identifier(of: all)) == !registry.formats.contains(.webp))
    // However it was said.
    #expect(registry.identifier(of: ImageEncoding(.jpeg)) == registry.identifier(of: .jpeg()))
    #expect(ImageEncoding.jpeg().format == .jpeg)
    #expect(ImageEncoding.automatic().format == nil)
  }

  @Test
  func whoCancelsGetsNoFile() {
    for format in EncoderRegistry.standard.formats {
      let error = failure {
        try EncoderRegistry.standard.encode(Self.solid, as: ImageEncoding(format)) { true }
      }
      #expect(error?.isCancellation == true, "\(format)")
    }
  }

  @Test(arguments: EncoderRegistry.standard.formats)
  func encodingStopsHalfWay(format: ImageFormat) {
    // Large enough for every encoder to ask more than once.
    let picture = Bitmap.busy(width: 700, height: 600, alpha: false)
    let asked = Lock(0)
    let error = failure {
      try EncoderRegistry.standard.encode(picture, as: ImageEncoding(format)) {
        asked.withLock { asked in
          asked += 1
          return asked > 2
        }
      }
    }
    #expect(error?.isCancellation == true)
  }
}
