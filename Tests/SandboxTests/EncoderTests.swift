import Testing
import VitrineAVIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// Pictures that are encoded in workers.
struct EncoderTests {
  private static let formats: [ImageFormat] = [.avif, .jxl]

  /// The encoders of all formats, in this process.
  private static let own: EncoderRegistry = {
    var encoders = EncoderRegistry.standard
    encoders.add(.avif)
    encoders.add(.jxl)
    return encoders
  }()

  private static let opaque = Bitmap.testPattern(width: 123, height: 77)
  private static let transparent = Bitmap.pixels(width: 51, height: 30) { x, y in
    SIMD4(UInt8(5 * x), UInt8(8 * y), 100, UInt8(x + y))
  }

  private static func sandbox(_ configure: (inout Sandbox.Configuration) -> Void = { _ in }) throws -> Sandbox {
    try Sandbox.built { configuration in
      (configuration.processes, configuration.startsAhead) = (1, false)
      configure(&configuration)
    }
  }

  /// An input with metadata, as a registry prepares it.
  private static func input(xmp: String, isCancelled: (@Sendable () -> Bool)? = nil) -> EncoderInput {
    EncoderInput(opaque, metadata: WrittenMetadata(xmp: Data(xmp.utf8)), isCancelled: isCancelled)
  }

  private static func encoder(_ sandbox: Sandbox) throws -> SandboxEncoder {
    try #require(sandbox.encoder(of: .avif))
  }

  @Test(arguments: formats, [opaque, transparent])
  func theBytesAreThoseOfTheEncodersThemselves(_ format: ImageFormat, _ bitmap: Bitmap) throws {
    let encoders = try Self.sandbox().encoders

    for (quality, isLossless) in [(nil, false), (40, false), (nil, true)] {
      let encoding = ImageEncoding(format, quality: quality, isLossless: isLossless)
      #expect(try encoders.encode(bitmap, as: encoding) == Self.own.encode(bitmap, as: encoding))
    }
  }

  @Test
  func colorsOutsideSRGBStay() throws {
    let bitmap = Self.opaque.converted(to: .displayP3)
    let encoders = try Self.sandbox().encoders

    for format in Self.formats {
      #expect(
        try encoders.encode(bitmap, as: ImageEncoding(format)) == Self.own.encode(bitmap, as: ImageEncoding(format))
      )
    }
  }

  @Test
  func theOptionsReachTheEncoder() throws {
    let encoders = try Self.sandbox().encoders

    let avif = SandboxEncodingOptions(quality: 50, effort: 1, subsampling: .yuv444)
    #expect(
      try encoders.encode(Self.opaque, as: ImageEncoding(.avif, avif))
        == Self.own.encode(Self.opaque, as: .avif(quality: 50, subsampling: .yuv444, speed: 9))
    )
    #expect(
      try encoders.encode(Self.opaque, as: ImageEncoding(.jxl, SandboxEncodingOptions(quality: 50, effort: 3)))
        == Self.own.encode(Self.opaque, as: .jxl(quality: 50, effort: 3))
    )
  }

  @Test
  func metadataIsWritten() throws {
    let encoder = try Self.encoder(Self.sandbox())
    let metadata = WrittenMetadata(exif: Data("MM\0\u{2A}\0\0\0\u{8}\0\0\0\0\0\0".utf8), xmp: Data("<x/>".utf8))
    let input = EncoderInput(Self.opaque, metadata: metadata)

    let file = try encoder.encode(input, SandboxEncodingOptions())

    #expect(try file == AVIFEncoder().encode(input, AVIFOptions()))
    #expect(file.firstRange(of: Data("<x/>".utf8)) != nil)
  }

  /// One process encodes while another decodes the frames, although there may be only one of each.
  @Test(arguments: formats, ["avif", "jxl"])
  func animationsAreThoseOfTheEncodersThemselves(_ format: ImageFormat, _ source: String) throws {
    let sandbox = try Self.sandbox()
    var options = DecodeOptions()
    options.animates = true
    let file = try Fixture.data("animated.\(source)")
    let image = try sandbox.decoders.decode(file, options)
    #expect(image.animation != nil)

    let encoded = try sandbox.encoders.encode(image, as: ImageEncoding(format)).data

    #expect(try encoded == Self.own.encode(ownDecoders.decode(file, options), as: ImageEncoding(format)).data)
    #expect(try ownDecoders.info(of: encoded).frameCount == 3)
  }

  @Test
  func aFrameThatIsDamagedIsTheErrorOfTheEncoding() throws {
    let sandbox = try Self.sandbox()
    var options = DecodeOptions()
    options.animates = true
    let file = try Fixture.data("animated.png")
    let image = try ownDecoders.decode(file.prefix(file.count * 2 / 3), options)

    let error = failure { try sandbox.encoders.encode(image, as: ImageEncoding(.jxl)) }

    #expect(error?.code == .truncated, "\(error?.detail ?? "")")
    #expect(throws: Never.self) { try sandbox.encoders.encode(Self.opaque, as: ImageEncoding(.jxl)) }
  }

  @Test
  func aFileThatIsLongerThanTheFirstOutputComesBack() throws {
    var generator = SystemRandomNumberGenerator()
    let noise = Bitmap.pixels(width: 900, height: 700, alpha: .opaque) { _, _ in
      SIMD4(
        truncatingIfNeeded: SIMD4<UInt32>(repeating: UInt32.random(in: 0 ... .max, using: &generator))
          &>> SIMD4(0, 8, 16, 24)
      )
        | SIMD4(0, 0, 0, 255)
    }

    let file = try Self.sandbox().encoders.encode(noise, as: ImageEncoding(.jxl, isLossless: true))

    #expect(file.count > 1 << 20)
    #expect(try ownDecoders.decode(file).bitmap.psnr(against: noise) == .infinity)
  }

  @Test
  func whatIsNotEncodableIsAnErrorThatTheWorkerSurvives() throws {
    let sandbox = try Self.sandbox()

    let error = failure {
      try sandbox.encoders.encode(.solid(SIMD4(0, 0, 0, 255), width: 65_537, height: 1), as: ImageEncoding(.avif))
    }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail == "65537x1 pixels are too many for avif, whose sides end at 65536")
    _ = try sandbox.encoders.encode(Self.opaque, as: ImageEncoding(.avif))
    #expect(sandbox.counts.started == 1)
    #expect(sandbox.counts.images == 2)
  }

  @Test
  func withoutASandboxThereIsNoEncoderOfIt() throws {
    let sandbox = try Sandbox { $0.formats = .none }

    #expect(sandbox.encoders.formats == EncoderRegistry.standard.formats)
  }

  // MARK: Rogues

  @Test(arguments: ["crash", "abort", "exit"])
  func anEncoderThatCrashesCostsOnePicture(_ action: String) throws {
    let sandbox = try Sandbox.rogue()
    let encoder = try Self.encoder(sandbox)

    let error = failure { try encoder.encode(Self.input(xmp: action), SandboxEncodingOptions()) }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail.hasPrefix("cannot be encoded as avif: the process that encodes it ") == true)
    #expect(try encoder.encode(Self.input(xmp: "nothing"), SandboxEncodingOptions()) == Data([0]))
    #expect(sandbox.counts.crashed == 1)
  }

  @Test
  func anEncoderThatIsKilledCostsOnePicture() throws {
    let sandbox = try Sandbox.rogue()
    let encoder = try Self.encoder(sandbox)
    // Called while the sandbox waits for the answer.
    let input = Self.input(xmp: "sleep") {
      for process in sandbox.processIdentifiers { kill(process, SIGKILL) }
      return false
    }

    let error = failure { try encoder.encode(input, SandboxEncodingOptions()) }

    #expect(error?.detail == "cannot be encoded as avif: the process that encodes it was killed from outside (SIGKILL)")
    #expect(try encoder.encode(Self.input(xmp: "nothing"), SandboxEncodingOptions()) == Data([0]))
  }

  @Test(arguments: ["sleep", "spin"])
  func cancellingEndsAnEncoderThatCannotBeStopped(_ action: String) throws {
    let sandbox = try Sandbox.rogue()
    let encoder = try Self.encoder(sandbox)
    // The process is ready, so that what is cancelled is the encoding.
    #expect(try encoder.encode(Self.input(xmp: "nothing"), SandboxEncodingOptions()) == Data([0]))
    let calls = Lock(0)
    let input = Self.input(xmp: action) {
      calls.withLock {
        $0 += 1
        return $0 > 5
      }
    }

    #expect(failure { try encoder.encode(input, SandboxEncodingOptions()) }?.isCancellation == true)
    #expect(sandbox.counts.stopped == 1)
    #expect(sandbox.counts.processes == 0)
    #expect(try encoder.encode(Self.input(xmp: "nothing"), SandboxEncodingOptions()) == Data([0]))
  }

  @Test(.enabled(if: RogueTests.hasSeccomp), arguments: ["read /etc/passwd", "write /tmp/vitrine-rogue", "newCode"])
  func anEncoderIsConfined(_ action: String) throws {
    let encoder = try Self.encoder(Sandbox.rogue())

    #expect(try encoder.encode(Self.input(xmp: action), SandboxEncodingOptions()) == Data([UInt8(EPERM)]))
  }

  @Test(arguments: ["wantsFrames", "endlessFile", "fileBehindTheEnd", "emptyFile", "secondHello", "longMessage"])
  func aWorkerThatLiesCostsOnePictureAndIsEnded(_ name: String) throws {
    let (sandbox, folder) = try RogueTests.liar(name)
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.encoders.encode(Self.opaque, as: ImageEncoding(.avif)) }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail.contains("answered with an impossible") == true, "\(error?.detail ?? "")")
    #expect(sandbox.counts.processes == 0)
  }

  @Test
  func aProgramThatIsNoWorkerIsNamed() throws {
    let sandbox = try Sandbox { ($0.program, $0.startsAhead) = ("/bin/true", false) }

    let error = failure { try sandbox.encoders.encode(Self.opaque, as: ImageEncoding(.avif)) }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail.hasPrefix("cannot be encoded as avif: the program /bin/true") == true)
  }
}
