import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineSandbox

/// The messages between a program and its workers.
struct WireTests {
  /// Returns what is read from what is written.
  private static func copy<Value>(
    _ value: Value,
    from initial: Value,
    _ code: (inout Message, inout Value) throws(Malformed) -> Void,
  ) throws -> Value {
    var (message, written, read) = (Message(), value, initial)
    try code(&message, &written)
    #expect(message.bytes.count <= Message.limit)
    var copy = Message(reading: message.bytes)
    try code(&copy, &read)
    try copy.end()
    return read
  }

  private static let noInfo = ImageInfo(format: .bitmap, storedWidth: 1, storedHeight: 1)

  @Test
  func factsComeThroughAsTheyAre() throws {
    var info = ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9, orientation: .left)
    (info.frameCount, info.duration, info.loopCount, info.hasAlpha) = (12, 1.25, 0, true)
    (info.bitsPerComponent, info.isVector, info.colorModel, info.streamsRows) = (16, true, .cmyk, true)
    info.workingByteCount = 1 << 40
    for encoding in [nil, ColorEncoding.sRGB, Self.gamma] {
      info.colorEncoding = encoding
      let read = try Self.copy(info, from: Self.noInfo) { (message, info) throws(Malformed) in try message.code(&info) }
      #expect(read == info)
    }
  }

  private static let gamma: ColorEncoding = {
    var encoding = ColorEncoding.sRGB
    encoding.transfer = .gamma(1.8)
    return encoding
  }()

  @Test
  func rulesOfAThumbnailServerComeThroughAsTheyAre() throws {
    let plain = try ImageOperations("resize:fill:300:200")
    var texts: Set<String> = []
    for operations in [
      plain,
      try ImageOperations("rs:fill:30:20:1:1|z:2:3|dpr:1.5|mrd:90|pd:1:2:3:4|exar:1|rot:90|fl:1|mw:9|mh:8|g:se:1:2"),
    ] {
      let options = DecodeOptions(size: try operations.plan().size)
      let read = try Self.copy(options, from: DecodeOptions()) { (m, o) throws(Malformed) in try m.code(&o) }
      #expect(read.size == options.size)
      texts.insert(try #require(read.size?.rules).text)
    }
    #expect(
      texts.contains("box fill 30 20 2 3 1.5 9 8 soea:1:2 enlarging extending turned 5 within 90 shaped padded 1 2 3 4")
    )
  }

  @Test
  func picturesToBeEncodedComeThroughAsTheyAre() throws {
    var question = EncodeQuestion()
    (question.format, question.width, question.height, question.isOpaque) = (.jxl, 700, 1 << 20, false)
    (question.colorSpace, question.exif) = (.displayP3, SharedRange(offset: 5, count: 6))
    for options in [
      SandboxEncodingOptions(), SandboxEncodingOptions(quality: 7, isLossless: true, effort: 0, subsampling: .yuv422),
    ] {
      question.options = options
      #expect(
        try Self.copy(question, from: EncodeQuestion()) { (m, q) throws(Malformed) in try m.code(&q) } == question
      )
    }
    question.xmp = SharedRange(offset: 11, count: 1)
    question.animation = EncodeQuestion.Animation(frameCount: 3, loopCount: 0, hasAlpha: true)
    #expect(try Self.copy(question, from: EncodeQuestion()) { (m, q) throws(Malformed) in try m.code(&q) } == question)
    var frame: EncodeFrame? = EncodeFrame()
    #expect(try Self.copy(frame, from: nil) { (m, f) throws(Malformed) in try m.code(&f) } == frame)
    frame = nil
    #expect(try Self.copy(frame, from: EncodeFrame()) { (m, f) throws(Malformed) in try m.code(&f) } == nil)
  }

  @Test
  func aPictureWithMorePixelsThanMemoryHasIsMalformed() throws {
    var (message, question) = (Message(), EncodeQuestion())
    (question.width, question.height) = (1 << 30, 1 << 30)
    // Each side is possible by itself.
    _ = try? message.code(&question)
    var copy = Message(reading: message.bytes)

    #expect(throws: Malformed.self) { try copy.code(&question) }
  }

  @Test
  func questionsComeThroughAsTheyAre() throws {
    var options = DecodeOptions(size: .pixels(3.5, 700, .fill, anchor: .topLeft, enlarges: true))
    options.region = PixelRegion(x: -1, y: 2, width: 30, height: .max)
    options.drawnPart = DrawnPart(ofWidth: 900, height: 7, region: PixelRegion(x: 3, y: 1, width: 512, height: 6))
    (options.quality, options.filter, options.usesLinearLight) = (.best, .mitchell, true)
    (options.colorSpace, options.frame, options.acceptsPartial) = (.displayP3, -3, true)
    options.limits.pixelCount = 5
    options.limits.timeLimit = .milliseconds(1500)
    let kinds: [DecodeQuestion.Kind] = [
      .info, .metadata, .frameDelays, .embeddedThumbnail, .usesThumbnail, .image, .gray(over: 77),
      .preview(.scans, showsRows: true), .preview(.thumbnail, showsRows: false),
    ]
    for kind in kinds {
      var question = DecodeQuestion(kind, options)
      question.job.threadCount = 3
      let read = try Self.copy((question, 99, 5), from: (DecodeQuestion(.info, DecodeOptions()), 0, 0)) {
        (message, value) throws(Malformed) in
        try message.code(&value.0, byteCount: &value.1, allowance: &value.2)
      }
      #expect(read.0.kind == kind)
      #expect(read.0.job.threadCount == 3)
      #expect((read.1, read.2) == (99, 5))
      #expect(read.0.options.size == options.size)
      #expect(read.0.options.region == options.region)
      #expect(read.0.options.drawnPart == options.drawnPart)
      #expect(read.0.options.limits == options.limits)
      #expect("\(read.0.options)" == "\(question.options)")
    }
  }

  @Test(arguments: [
    TargetSize.pixels(width: 5), .pixels(height: .infinity, enlarges: true), .pixels(.nan, -1), .pixels(2, 3, .exact),
  ])
  func sizesComeThroughEvenIfTheyAreOfNoUse(size: TargetSize) throws {
    let read = try Self.copy(DecodeOptions(size: size), from: DecodeOptions()) { (message, options) throws(Malformed) in
      try message.code(&options)
    }

    #expect("\(read.size.map { "\($0)" } ?? "")" == "\(size)")
  }

  @Test
  func errorsComeThroughAsTheyAre() throws {
    for error in [
      ImageError(.truncated, format: .tiff, "cut"), ImageError(.overLimit, limit: .memoryByteCount, ""),
      ImageError(.decoderFailed, format: .svg, "grün"),
    ] {
      let read = try Self.copy(error, from: ImageError(.corrupt, "")) { (message, error) throws(Malformed) in
        try message.code(&error)
      }
      #expect(read == error)
    }
  }

  @Test
  func longTextsAreShortened() throws {
    let error = ImageError(.corrupt, String(repeating: "ä", count: 5000))

    let read = try Self.copy(error, from: ImageError(.corrupt, "")) { (message, error) throws(Malformed) in
      try message.code(&error)
    }

    #expect(read.detail == String(repeating: "ä", count: 500))
  }

  @Test
  func whatIsMissingImpossibleOrLeftOverIsRefused() throws {
    var message = Message()
    var (text, number, flag) = ("text", Double.nan, 2)
    try message.code(&text, "text")
    try message.code(&number, "number")
    try message.code(&flag, "flag")
    func field(_ read: (inout Message) throws -> Void) -> String? {
      var copy = Message(reading: message.bytes)
      do {
        var text = ""
        try copy.code(&text, "text")
        try read(&copy)
        return nil
      } catch {
        return (error as? Malformed)?.field
      }
    }

    #expect(field { try $0.code(&number, "not a number") } == "not a number")
    #expect(field { try $0.end() } == "length")
    var (isSet, any) = (false, 0)
    #expect(
      field {
        try $0.code(&any, "bits")
        try $0.code(&isSet, "flag")
      } == "flag"
    )
    #expect(
      field {
        for _ in 0..<3 { try $0.code(&any, "none") }
      } == "none"
    )
  }

  /// The eight bytes of a field are replaced with a value that is impossible there.
  @Test(arguments: [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88], [Int.min + 1, -1, Int(bitPattern: 0x7FF8 << 48)])
  func anImpossibleHeaderIsRefused(offset: Int, value: Int) {
    var (message, info) = (Message(), ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9))
    try? message.code(&info)
    var bytes = message.bytes
    bytes.replaceSubrange(offset..<offset + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    var changed = Message(reading: bytes)

    #expect(throws: Malformed.self) {
      try changed.code(&info)
      try changed.end()
    }
  }

  @Test
  func anAnswerThatIsLargerThanAnyMemoryIsRefusedWhereNothingIsLimited() throws {
    var (message, isThere, side, range) = (Message(), true, Int(Int32.max), SharedRange(offset: 0, count: 4))
    var info = ImageInfo(format: .png, storedWidth: side, storedHeight: side)
    try message.code(&isThere, "image")
    try message.code(&info)
    for _ in 0..<2 { try message.code(&side, "side") }
    try message.code(&range, "place")
    var fields = AnswerFields(reading: Message(reading: message.bytes), .empty, .unlimited)

    #expect(throws: Malformed(field: "size of the result")) { try fields.code(nil, to: .image, byteCount: 9) }
  }

  @Test
  func aDrawingOfMoreFramesThanAllowedIsRefused() throws {
    var (message, info) = (Message(), ImageInfo(format: .svg, storedWidth: 7, storedHeight: 9))
    (info.isVector, info.frameCount) = (true, Int(Int32.max))
    try message.code(&info)
    var fields = AnswerFields(reading: Message(reading: message.bytes), .empty, DecodeOptions())

    #expect(throws: Malformed(field: "size")) { try fields.code(nil, to: .info, byteCount: 9) }
  }

  /// An answer of every kind, cut and changed in every byte, is read or refused, and never read out of bounds.
  @Test
  func changedAnswersAreReadOrRefused() throws {
    var info = ImageInfo(format: .png, storedWidth: 6, storedHeight: 4)
    info.colorProfile = ColorProfile(data: Data(repeating: 7, count: 50))
    let bitmap = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 6, height: 4)
    var metadata = ImageMetadata()
    (metadata.exif, metadata.xmp) = (Data([1, 2]), Data([3]))
    let preview = ImagePreview(bitmap: bitmap, info: info, detail: .rows(share: 0.5), byteCount: 9)
    var bright = ImageContainer(bitmap, info: info)
    bright.gainMap = GainMap(bitmap, GainMapFormula(minimum: -1, maximum: 2))
    let answers: [(DecodeQuestion.Kind, DecodeAnswer)] = [
      (.info, .info(info)), (.metadata, .metadata(metadata)), (.frameDelays, .frameDelays([0.1, 0.2])),
      (.usesThumbnail, .usesThumbnail(true)), (.embeddedThumbnail, .image(nil)),
      (.image, .image(ImageContainer(bitmap, info: info, damage: ImageError(.truncated, "cut")))),
      (.image, .image(bright)),
      (.gray(over: 1), .gray(DecodedGrayImage(bitmap: GrayBitmap(bitmap), info: info, damage: nil))),
      (.preview(.preview, showsRows: true), .preview(preview)),
    ]
    for (kind, answer) in answers {
      var fields = AnswerFields()
      _ = try fields.code(answer, to: kind, byteCount: 9)
      let output = [UInt8](repeating: 5, count: fields.outputByteCount)
      let bytes = fields.message.bytes
      func reads(_ bytes: [UInt8]) -> Bool {
        unsafe output.withUnsafeBytes { output in
          let options = DecodeQuestion(kind, DecodeOptions()).options
          var fields = unsafe AnswerFields(reading: Message(reading: bytes), Elements(output), options)
          return (try? fields.code(nil, to: kind, byteCount: 9)) != nil
        }
      }
      #expect(reads(bytes), "\(kind)")
      for count in bytes.indices { #expect(!reads(Array(bytes[..<count])), "\(kind), \(count) bytes") }
      #expect(!reads(bytes + [0]))
      var refused = 0
      for index in bytes.indices {
        for value in [0x01, 0x7F, 0x80, 0xFF] as [UInt8] {
          var changed = bytes
          changed[index] ^= value
          if !reads(changed) { refused += 1 }
        }
      }
      #expect(refused > bytes.count)
    }
  }
}
