import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct SVGTests {
  static let start = #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink""#
  static let red = SIMD4<UInt8>(220, 40, 40, 255)

  /// Red above left, green at half coverage above right, blue below left, nothing below right.
  static let shapes = data(
    #" width="60" height="40" viewBox="0 0 120 80">"#,
    ##"<rect width="60" height="40" fill="#dc2828"/>"##,
    ##"<rect x="60" width="60" height="40" fill="#28b43c" fill-opacity="0.5"/>"##,
    ##"<rect y="40" width="60" height="40" fill="#283cc8"/>"##,
  )

  static func data(_ parts: String...) -> Data { Data((start + parts.joined() + "</svg>").utf8) }

  @Test
  func shapesAreDrawnWithStraightAlpha() throws {
    let decoded = try decode(Self.shapes)

    #expect(decoded.bitmap.size == [60, 40])
    #expect(decoded.bitmap.alpha == .straight)
    #expect(decoded.bitmap[10, 10] == Self.red)
    #expect(decoded.bitmap[50, 10].isWithin(1, of: SIMD4(40, 180, 60, 128)))
    #expect(decoded.bitmap[10, 30] == SIMD4(40, 60, 200, 255))
    #expect(decoded.bitmap[50, 30] == SIMD4())
  }

  @Test(arguments: [
    (TargetSize.pixels(30, 30), [30, 20]), (.pixels(600, 600), [600, 400]), (.pixels(width: 240), [240, 160]),
    (.pixels(90, 90, .exact), [90, 90]), (.pixels(90, 90, .fill), [90, 90]),
    (.points(100, 100, scale: 3), [300, 200]),
  ])
  func itIsDrawnAtTheSizeAskedFor(size: TargetSize, expected: [Int]) throws {
    let bitmap = try decode(Self.shapes, size).bitmap

    #expect(bitmap.size == expected)
    // An enlarged picture would have a seam of mixed colours here; a drawn one has none, and a crop, which may begin
    // within a pixel, only that of a filter.
    let (x, y) = (bitmap.width / 2, bitmap.height / 2)
    #expect(bitmap[x - 5, y - 5].isWithin(2, of: Self.red))
    #expect(bitmap[x + 4, y - 5].isWithin(2, of: SIMD4(40, 180, 60, 128)))
    #expect(bitmap[x + 4, y + 4].w <= 1)
  }

  @Test(arguments: [
    (#" width="60" height="40">"#, [60, 40]), (#" width="1in" height="2.54cm">"#, [96, 96]),
    (#" viewBox="0 0 70 35">"#, [70, 35]), (#" width="50" viewBox="0 0 100 40">"#, [50, 20]),
    (#" height="50" viewBox="0 0 100 40">"#, [125, 50]), (">", [300, 150]),
    (#" width="100%" height="100%" viewBox="0 0 80 20">"#, [80, 20]), (#" width="0.2" height="0.1">"#, [1, 1]),
    (#" width="10.5" height="20.1">"#, [11, 21]),
    // As Chromium shows each alone.
    (#" width="10em" height="10em">"#, [160, 160]), (#" width="1em" height="1em" viewBox="0 0 512 512">"#, [16, 16]),
    (#" width="10ex" height="10ex">"#, [90, 90]), (#" width="10rem" height="10rem">"#, [160, 160]),
    (#" width="40Q" height="80Q">"#, [38, 76]), (#" width="50">"#, [50, 150]), (#" height="50">"#, [300, 50]),
    (#" font-size="10" width="5em" height="5em">"#, [50, 50]), (#" width="1e2" height="5e1">"#, [100, 50]),
    (#" style="width:5em;height:5em;font-size:20px">"#, [100, 100]), (#" width=".5in" height="1.in">"#, [48, 24]),
    (#" width="50%" height="80">"#, [160, 80]),
    (#" style="width:90px;height:45px">"#, [90, 45]), (#" width="-5" height="40" viewBox="0 0 20 10">"#, [80, 40]),
    (#" width="auto" height="auto" viewBox="0,0,60,30">"#, [60, 30]), (#" viewBox="0 0 0 0">"#, [300, 150]),
    (#" width="80" height="40" viewBox="0 0 0 0">"#, [80, 40]), (#" width=" 100 " height=" 50px ">"#, [100, 50]),
  ])
  func itsOwnSizeIsWhatItSays(attributes: String, expected: [Int]) throws {
    let info = try registry.info(of: Self.data(attributes))

    #expect([info.width, info.height] == expected)
    #expect(info.hasAlpha && info.isVector)
  }

  static let documents = [
    ("a comment", "<!--\(String(repeating: "A licence, and <svg> in it. ", count: 4000))-->" + small),
    ("entities", "<!DOCTYPE svg [\((0..<999).map { "<!ENTITY a\($0) \"]>'\">" }.joined())<!--]>-->]>" + small),
    ("HTML in a comment", "<!-- <html> --><?xml-stylesheet href='a'?>" + small),
    ("white space", String(repeating: " \n", count: 9000) + small),
    (
      "a prefix",
      #"<ns0:svg xmlns:ns0="http://www.w3.org/2000/svg" width="40" height="40"><ns0:rect width="40" "#
        + ##"height="40" fill="#dc2828"/></ns0:svg>"##,
    ),
    ("HTML inside", small.dropLast(6) + "<title><html/></title></svg>"),
    ("other letters", "<svg id='レイヤー'" + small.dropFirst(4)),
  ]

  private static let small =
    ##"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#dc2828"/></svg>"##

  @Test(arguments: documents)
  func itIsRecognisedByItsRoot(name: String, text: String) throws {
    let declared = #"<?xml version="1.0" encoding="UTF-16"?>"# + text
    var files = [Data(text.utf8), Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)]
    if !text.hasPrefix(" ") {
      files.append(Data([0xFF, 0xFE]) + Data(declared.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }))
      files.append(Data([0xFE, 0xFF]) + Data(declared.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }))
    }
    for file in files {
      #expect(ImageFormat.sniff(file) == .svg)
      let bitmap = try decode(file).bitmap
      #expect(bitmap.size == [40, 40])
      #expect(bitmap[20, 20] == Self.red)
    }
  }

  /// A document of 40x40, of 114 bytes, that gzip has compressed.
  private static let compressed =
    "H4sIAGV0CGsC/3WMywqAIBAAf0W2uyvaIUL9GSsV7IEubZ/f495tYIax7YziWsvWHCSiY0RkZslG7jWiVkrhU4DgPFFy0CsQac4x0cfe1jnQjxRL"
    + "LsVBFwajjQb09l35G7+PC1NyAAAA"

  @Test
  func aCompressedOneIsDrawn() throws {
    let file = try #require(Data(base64Encoded: Self.compressed))

    #expect(ImageFormat.sniff(file) == .svg)
    let info = try registry.info(of: file)
    #expect([info.width, info.height] == [40, 40])
    #expect(try decode(file).bitmap[20, 20].isWithin(1, of: SIMD4(200, 50, 50, 255)))
    // Of 10em by 5em.
    let other = try #require(
      Data(
        base64Encoded: "H4sIAAAAAAACA7MpLktXqMjNySu2VcooKSmw0tcvLy/XKzfWyy9K1zcyMDDQB6pQUijPTC"
          + "nJsFUyNEjNVVLISM1MzyixVTIFcvTtAOMpwzZDAAAA"
      )
    )
    let size = try registry.info(of: other)
    #expect([size.width, size.height] == [160, 80])
    for count in 20..<file.count { #expect(failure { try decode(file.prefix(count)) } != nil) }
    #expect(failure { try decode(file.prefix(90)) }?.code == .truncated)
    #expect(failure { try decode(file.prefix(file.count - 1)) }?.code == .truncated)
    var damaged = file
    damaged[file.count - 5] ^= 1
    #expect(failure { try decode(damaged) }?.code == .corrupt)
  }

  /// The limit is for the text, however short the file is.
  @Test(arguments: [(113, true), (200, false)])
  func theTextOfACompressedOneIsLimited(length: Int, isRefused: Bool) throws {
    let file = try #require(Data(base64Encoded: Self.compressed))
    var limits = DecodeLimits()
    limits.memoryByteCount = 8 * length

    guard isRefused else {
      #expect(try registry.info(of: file, limits: limits).width == 40)
      return
    }
    let error = failure { try registry.info(of: file, limits: limits) }
    #expect(error?.code == .overLimit)
    #expect(error?.limit == .memoryByteCount)
  }

  @Test
  func aHugeDrawingHasAThumbnail() throws {
    let file = Self.data(##" width="900000" height="600000"><rect width="900000" height="600000" fill="#dc2828"/>"##)

    #expect(try decode(file, .pixels(30, 30)).bitmap[15, 10] == Self.red)
    #expect(failure { try decode(file) }?.code == .overLimit)
  }

  @Test
  func whatIsDrawnIsLimited() throws {
    #expect(failure { try decode(Self.shapes, .pixels(40_000, 40_000)) }?.code == .overLimit)
    #expect(
      failure { try decode(Self.shapes, .pixels(600, 400)) { $0.limits.pixelCount = 200_000 } }?.code == .overLimit
    )
    // To fill a square from a line of a drawing, all of it would have to be drawn.
    let line = Self.data(#" width="60000" height="1">"#)
    #expect(failure { try decode(line, .pixels(300, 300, .fill)) }?.code == .overLimit)
  }

  @Test
  func noOtherFileIsLoaded() throws {
    let picture = Fixture.url("picture.reference.png")
    #expect(FileManager.default.fileExists(atPath: picture.path))
    for address in [picture.absoluteString, picture.path, "picture.reference.png"] {
      let file = Self.data(
        #" width="60" height="40"><image width="60" height="40" xlink:href="\#(address)"/>"#,
        #"<use xlink:href="\#(address)#x"/><style>@import url("\#(address)");</style>"#,
      )

      let bitmap = try decode(file).bitmap

      #expect(!bitmap.contains { $0.w > 0 })
    }
  }

  @Test
  func aPictureWithinTheFileIsDrawn() throws {
    let picture = try Bitmap.solid(Self.red, width: 4, height: 4).encoded(as: .png).base64EncodedString()
    let file = Self.data(
      #" width="60" height="40"><image width="60" height="40" preserveAspectRatio="none""#,
      #" xlink:href="data:image/png;base64,\#(picture)"/>"#,
    )

    #expect(try decode(file).bitmap[30, 20] == Self.red)
  }

  @Test
  func anEntityOutsideTheFileIsNotLoaded() throws {
    let secret = Fixture.url("README.md").absoluteString
    let file = Data(#"<!DOCTYPE svg [<!ENTITY x SYSTEM "\#(secret)">]>"#.utf8) + Self.data("><text>&x;</text>")

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func entitiesThatMultiplyAreRefused() {
    let letters = Array("abcdefgh")
    var declarations = #"<!ENTITY a "aaaaaaaaaa">"#
    for (letter, next) in zip(letters, letters.dropFirst()) {
      declarations += #"<!ENTITY \#(next) "\#(String(repeating: "&\(letter);", count: 10))">"#
    }
    let file = Data("<!DOCTYPE svg [\(declarations)]>".utf8) + Self.data("><text>&h;</text>")

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func referencesThatMultiplyAreOverALimit() {
    var text = #" width="60" height="40"><defs><rect id="u0" width="1" height="1"/>"#
    for level in 1...9 {
      text += "<g id=\"u\(level)\">"
      text += String(repeating: "<use xlink:href=\"#u\(level - 1)\"/>", count: 10) + "</g>"
    }

    #expect(failure { try decode(Self.data(text, "</defs><use xlink:href=\"#u9\"/>")) }?.code == .overLimit)
  }

  @Test
  func elementsAreNotNestedWithoutEnd() {
    let depth = 100_000
    let file = Self.data(">", String(repeating: "<g>", count: depth), String(repeating: "</g>", count: depth))

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func everyPrefixIsTruncated() throws {
    let file = Self.shapes
    var wrong: [Int] = []
    for count in Self.start.utf8.count..<file.count
    where failure({ try decode(file.prefix(count)) })?.code != .truncated { wrong.append(count) }

    #expect(wrong.isEmpty)
  }

  @Test
  func whatIsNotWellFormedIsCorrupt() {
    let error = failure { try decode(Self.data("><g></svg><g>")) }

    #expect(error?.code == .corrupt)
    #expect(error?.detail.contains("\n") == false)
  }

  @Test
  func spoiledBytesNeverDoHarm() {
    var generator = SplitMix64(seed: 1_999)
    for _ in 0..<300 {
      var spoiled = Self.shapes
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        spoiled[Int.random(in: 0..<spoiled.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      _ = try? decode(spoiled, .pixels(20, 20))
    }
  }

  @Test(arguments: 1...3)
  func itIsCancelledBeforeAndBehindDrawing(question: Int) {
    let questions = Lock(0)

    let error = failure {
      try decode(Self.shapes) { options in
        options.isCancelled = {
          questions.withLock {
            $0 += 1
            return $0 == question
          }
        }
      }
    }

    #expect(error?.isCancellation == true)
  }

  @Test
  func thereIsOneFrame() {
    #expect(failure { try decode(Self.shapes) { $0.frame = 1 } }?.code == .noSuchFrame)
  }
}

extension Bitmap {
  fileprivate func contains(_ condition: (SIMD4<UInt8>) -> Bool) -> Bool {
    (0..<height).contains { y in (0..<width).contains { x in condition(self[x, y]) } }
  }
}
