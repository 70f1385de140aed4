import Testing
import VitrineCodecProcess
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Decoding by another process.
struct ProcessTests {
  /// A registry of what the built program decodes.
  static func registry() throws -> DecoderRegistry {
    let path = try #require(BuiltProgram.path("vitrine-codecs"))
    let decoder = ProcessDecoder(path, formats: [.avif, .heic, .jxl, .svg, .tiff])
    return DecoderRegistry([try #require(decoder)])
  }

  @Test(
    arguments: [
      "lossy-420.avif", "alpha.avif", "lossy.heic", "thumbnail.heic", "alpha.jxl", "orientation-5.jxl", "pages.tiff",
      "display-p3.tiff",
    ],
    [nil, TargetSize.pixels(20, 20)],
  )
  func anotherProcessDecodesTheSame(name: String, size: TargetSize?) throws {
    let file = try Fixture.data(name)
    let here = try decode(file, size)

    let there = try Self.registry().decode(file, DecodeOptions(size: size))

    #expect(there.info == here.info)
    #expect(there.bitmap.size == here.bitmap.size)
    #expect(there.bitmap.largestDifference(from: here.bitmap) == 0)
  }

  @Test
  func drawingsHaveTheirTextAndPictures() throws {
    let pixel = "R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="
    let file = SVGTests.data(
      #" width="200" height="60">"#,
      ##"<text x="5" y="40" font-size="30" fill="#00f">Text</text>"##
        + #"<image x="150" width="40" height="40" xlink:href="data:image/gif;base64,\#(pixel)"/>"#,
    )
    let here = try decode(file)

    let there = try Self.registry().decode(file)

    #expect(here.bitmap[170, 20] == SIMD4(255, 0, 0, 255))
    #expect(there.bitmap.largestDifference(from: here.bitmap) == 0)
  }

  @Test
  func errorsAreThoseOfTheDecoder() throws {
    let registry = try Self.registry()
    let file = try Fixture.data("lossy-420.avif")

    let here = failure { try decode(file.prefix(500)) }
    let there = failure { try registry.decode(file.prefix(500)) }

    #expect(here != nil)
    #expect(there == here)
    #expect(throws: Never.self) { try registry.decode(file) }
  }

  @Test
  func laterPagesAreReadToo() throws {
    var options = DecodeOptions()
    options.frame = 1

    let bitmap = try Self.registry().decode(Fixture.data("pages.tiff"), options).bitmap

    #expect(bitmap.size == [30, 20])
  }

  @Test
  func aDamagedPictureIsAResultWhereAskedFor() throws {
    let file = try Fixture.data("progressive.jxl")
    var options = DecodeOptions()
    options.acceptsPartial = true

    let decoded = try Self.registry().decode(file.prefix(file.count * 9 / 10), options)

    #expect(decoded.damage?.code == .truncated)
  }

  @Test
  func whatIsCancelledIsEndedAndTheNextImageDecodes() throws {
    let registry = try Self.registry()
    let questions = Lock(0)
    var options = DecodeOptions()
    options.isCancelled = {
      questions.withLock {
        $0 += 1
        return $0 > 2
      }
    }

    #expect(failure { try registry.decode(Fixture.data("lzw.tiff"), options) }?.isCancellation == true)
    #expect(throws: Never.self) { try registry.decode(Fixture.data("lzw.tiff")) }
  }

  @Test
  func aProgramThatDoesNotAnswerIsAnError() throws {
    // It ends at once, and understands nothing.
    let decoder = try #require(ProcessDecoder("/bin/true", formats: [.tiff]))
    let registry = DecoderRegistry([decoder])

    let error = failure { try registry.decode(Fixture.data("lzw.tiff")) }

    #expect(error?.code == .corrupt)
    #expect(error?.detail.contains("ended unexpectedly") == true)
  }

  /// The program is one that has been taken over; the name of its file says how.
  @Test(arguments: [
    "headerWithoutPixels", "headerOfManyPixels", "headerThatNeverEnds", "headerWithMore", "unknownError",
    "unknownAnswer",
    "rowsOfManyPixels", "rowsThatAreNone", "rowsOfNoNumber", "moreRowsThanAsked", "noRows", "endlessMessage",
  ])
  func aProcessThatLiesCostsOneImage(name: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vitrine-liar-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let liar = folder.appending(path: name).path
    try FileManager.default.createSymbolicLink(
      atPath: liar,
      withDestinationPath: try #require(BuiltProgram.path("rogue")),
    )
    let decoder = try #require(ProcessDecoder(liar, formats: [.tiff]))

    let error = failure { try DecoderRegistry([decoder]).decode(Fixture.data("lzw.tiff")) }

    #expect(error?.code == .corrupt)
    #expect(error?.detail.contains(name == "endlessMessage" ? "ended unexpectedly" : "impossible") == true)
  }

  @Test
  func aProgramThatIsNotThereDecodesNothing() {
    #expect(ProcessDecoder("/nowhere/vitrine-codecs", formats: [.tiff]) == nil)
  }

  @Test
  func messagesComeApartAsTheyWerePutTogether() throws {
    var limits = DecodeLimits()
    limits.pixelCount = 5
    var info = ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9, orientation: .left)
    info.duration = 1.25
    info.hasAlpha = true
    info.colorProfile = ColorProfile(data: Data([1, 2, 3]))
    var message = Message()
    message.add(-3)
    message.add(limits)
    message.add(info)
    message.add(ImageError(.truncated, format: .tiff, "cut"))

    var copy = Message(bytes: message.bytes)

    #expect(try copy.integer("number") == -3)
    #expect(try copy.limits() == limits)
    #expect(try copy.info(of: .tiff) == info)
    #expect(try copy.error(.tiff) == ImageError(.truncated, format: .tiff, "cut"))
    #expect(throws: Never.self) { try copy.end() }
    #expect(throws: Malformed.self) { try copy.integer("number") }
  }

  @Test
  func whatIsMissingImpossibleOrLeftOverIsRefused() throws {
    var message = Message()
    message.add(Double.nan)
    message.add(2)
    message.add(100)
    func refuses(_ offset: Int, _ read: (inout Message) throws -> Void) -> Bool {
      var rest = Message(bytes: Array(message.bytes.dropFirst(offset)))
      do {
        try read(&rest)
        return false
      } catch {
        return error is Malformed
      }
    }

    #expect(refuses(0) { _ = try $0.double("not a number") })
    #expect(refuses(8) { _ = try $0.flag("2") })
    #expect(refuses(8) { _ = try $0.integer("2", in: 3...4) })
    #expect(refuses(16) { _ = try $0.content("100 bytes that are not there") })
    #expect(refuses(16) { try $0.end() })
    #expect(refuses(20) { _ = try $0.integer("half a number") })
  }

  /// The eight bytes of a header's field are replaced with the value.
  @Test(arguments: [0, 8, 16, 24, 32, 48, 56, 64], [Int.min + 1, -1, Int(bitPattern: 0x7FF8 << 48), .max])
  func anImpossibleHeaderIsRefused(offset: Int, value: Int) {
    var message = Message()
    message.add(ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9))
    var bytes = message.bytes
    bytes.replaceSubrange(offset..<offset + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    var changed = Message(bytes: bytes)

    #expect(throws: Malformed.self) {
      _ = try changed.info(of: .tiff)
      try changed.end()
    }
  }
}
