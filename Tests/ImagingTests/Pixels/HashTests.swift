import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// ThumbHash and BlurHash, beside values of their reference implementations.
struct HashTests {
  // MARK: ThumbHash

  /// Hashes that the format's author publishes, and those of a port of his code for pictures of ours.
  ///
  /// With them: the size, and pixels at the top left, in the middle and at the bottom right of what that port decodes.
  static let thumbHashes: [(String, size: [Int], [SIMD4<UInt8>])] = [
    (
      "1QcSHQRnh493V4dIh4eXh1h4kJUI", [23, 32],
      [SIMD4(64, 78, 113, 255), SIMD4(140, 110, 89, 255), SIMD4(0, 4, 40, 255)],
    ),
    (
      "3OcRJYB4d3h/iIeHeEh3eIhw+j3A", [32, 23],
      [SIMD4(125, 137, 159, 255), SIMD4(113, 125, 139, 255), SIMD4(87, 99, 46, 255)],
    ),
    (
      "HBkSHYSIeHiPiHh8eJd4eTN0EEQG", [32, 23],
      [SIMD4(213, 255, 255, 255), SIMD4(141, 98, 34, 255), SIMD4(96, 90, 74, 255)],
    ),
    (
      "HDiCHIJGcZ9J5rJc+kjIjU+HgId4OJiIBg==", [32, 26],
      [SIMD4(148, 107, 85, 0), SIMD4(121, 94, 124, 255), SIMD4(120, 114, 107, 0)],
    ),
  ]

  @Test(arguments: thumbHashes)
  func aThumbHashShowsWhatTheReferenceShows(text: String, size: [Int], pixels: [SIMD4<UInt8>]) throws {
    let bitmap = try ThumbHash(base64: text).bitmap

    #expect(bitmap.size == size)
    let shown = [bitmap[0, 0], bitmap[size[0] / 2, size[1] / 2], bitmap[size[0] - 1, size[1] - 1]]
    // The reference cuts fractions off.
    for (pixel, expected) in zip(shown, pixels) { #expect(pixel.isWithin(1, of: expected)) }
  }

  @Test(arguments: [
    ("opaque", "mDkGNYYweniWx1iymliIeN+TbveK"), ("alpha", "HDiCHIJGcZ9J5rJc+kjIjU+HgId4OJiIBg=="),
    ("rotate-90", "mDkGNQYpimB7N6ink3eIeuxvDWh1"),
  ])
  func aPictureHasTheHashOfTheReference(name: String, text: String) throws {
    #expect(ThumbHash(try Golden.bitmap(name)).base64 == text)
  }

  @Test
  func aThumbHashTellsColourShapeAndAlpha() throws {
    // Published with the reference implementation in Rust.
    let flower = try ThumbHash(
      bytes: [147, 74, 6, 45, 6, 146, 86, 195, 116, 5, 88, 103, 218, 138, 182, 103, 148, 144, 81, 7, 25]
    )
    #expect(flower.averageColor == PixelColor(red: 123, green: 87, blue: 20))
    #expect(abs(flower.aspectRatio - 0.714285731) < 1e-6)
    #expect(!flower.hasAlpha)
    #expect(try ThumbHash(base64: "HDiCHIJGcZ9J5rJc+kjIjU+HgId4OJiIBg==").hasAlpha)
  }

  /// At a hundred pixels on its longer side it would be one pixel high.
  @Test(arguments: [(4000, 40), (40, 4000)])
  func aThinPictureKeepsItsColoursAcross(width: Int, height: Int) throws {
    let (red, blue) = (SIMD4<UInt8>(200, 30, 30, 255), SIMD4<UInt8>(30, 30, 200, 255))
    let picture = Bitmap.pixels(width: width, height: height, alpha: .opaque) { x, y in min(x, y) < 20 ? red : blue }
    let shown = try BlurHash(picture).bitmap(width: 40, height: 40)
    let thumb = ThumbHash(picture).bitmap

    let isWide = width > height
    for (start, end) in [
      (shown[20, 0], shown[39, 39]), (thumb[0, 0], thumb[thumb.width - 1, thumb.height - 1]),
    ] where isWide {
      #expect(start.x > start.z &+ 80 && end.z > end.x &+ 80)
    }
    let (left, right) = (shown[0, 20], shown[39, 20])
    #expect(isWide || left.x > left.z &+ 80 && right.z > right.x &+ 80)
  }

  @Test
  func base64IsReadInBothAlphabetsWithAndWithoutPadding() throws {
    let hash = try ThumbHash(base64: "HDiCHIJGcZ9J5rJc+kjIjU+HgId4OJiIBg==")
    #expect(try ThumbHash(base64: "HDiCHIJGcZ9J5rJc-kjIjU-HgId4OJiIBg") == hash)
    #expect(try ThumbHash(bytes: hash.bytes) == hash)
    #expect("\(hash)" == hash.base64)
  }

  @Test(arguments: [
    "", "A", "====", "1QcSHQ", "ä", "1QcSHQRnh493V4dIh4eXh1h4kJUI1234", "1QcSHQRnh493V4dIh4eXh1h4", "AAAAAAAAAAAA",
  ])
  func textThatIsNoThumbHashIsAnError(text: String) {
    #expect(failure { try ThumbHash(base64: text) }?.code == .corrupt)
    #expect(failure { try ThumbHash(base64: String(repeating: text + "A", count: 100_000)) }?.code == .corrupt)
  }

  @Test
  func anyBytesAreAHashOrAnError() {
    var generator = SplitMix64(seed: 5)
    var count = 0
    for _ in 0..<3000 {
      let bytes = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      guard let hash = try? ThumbHash(bytes: bytes) else { continue }
      count += 1
      #expect(max(hash.bitmap.width, hash.bitmap.height) == 32)
      #expect(hash.aspectRatio > 0 && hash.bytes == bytes)
    }
    #expect(count > 20)
  }

  @Test(arguments: [(1, 1), (3000, 2), (2, 900), (640, 480)])
  func picturesOfEveryShapeHaveHashes(width: Int, height: Int) throws {
    let hash = ThumbHash(Bitmap.testPattern(width: width, height: height))
    #expect(try ThumbHash(bytes: hash.bytes) == hash)
    #expect((width > height) == (hash.aspectRatio > 1))
  }

  @Test
  func aTransparentPictureHasAHash() throws {
    let clear = ThumbHash(Bitmap.pixels(width: 5, height: 5, alpha: .straight) { _, _ in SIMD4(255, 0, 255, 0) })
    #expect(clear.averageColor.alpha == 0)
    #expect(clear.bitmap.pixels.allSatisfy { $0.w == 0 })
  }

  // MARK: BlurHash

  /// Hashes from the format's documentation, and those of its reference implementation in C for pictures of ours.
  static let blurHashes: [(String, width: Int, height: Int, [SIMD4<UInt8>])] = [
    (
      "LEHV6nWB2yk8pyo0adR*.7kCMdnj", 32, 24,
      [SIMD4(135, 164, 177, 255), SIMD4(158, 125, 108, 255), SIMD4(132, 142, 147, 255)],
    ),
    (
      "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.", 32, 24,
      [SIMD4(176, 118, 163, 255), SIMD4(107, 126, 130, 255), SIMD4(142, 97, 99, 255)],
    ),
    (
      "L6PZfSi_.AyE_3t7t7R**0o#DgR4", 32, 24,
      [SIMD4(229, 228, 226, 255), SIMD4(214, 205, 194, 255), SIMD4(217, 216, 213, 255)],
    ),
    (
      "LOGuK=SXa;Juu{$dfM=MSp,1jz[m", 16, 12,
      [SIMD4(197, 95, 0, 255), SIMD4(150, 128, 191, 255), SIMD4(142, 163, 0, 255)],
    ),
    ("00GuK=", 16, 12, [SIMD4(145, 130, 108, 255), SIMD4(145, 130, 108, 255), SIMD4(145, 130, 108, 255)]),
  ]

  @Test(arguments: blurHashes)
  func aBlurHashShowsWhatTheReferenceShows(text: String, width: Int, height: Int, pixels: [SIMD4<UInt8>]) throws {
    let bitmap = try BlurHash(text).bitmap(width: width, height: height)

    #expect(bitmap.size == [width, height])
    let shown = [bitmap[0, 0], bitmap[width / 2, height / 2], bitmap[width - 1, height - 1]]
    for (pixel, expected) in zip(shown, pixels) { #expect(pixel.isWithin(1, of: expected)) }
  }

  static let components: [(String, Int, Int, String)] = [
    ("opaque", 4, 3, "LOGuK=SXa;Juu{$dfM=MSp,1jz[m"), ("opaque", 1, 1, "00GuK="),
    (
      "opaque", 9, 9,
      "|OGuK=SXa;JuWn#+Wnv~E,u{$dfM=MsTF@a{TEX8Sp,1jz[msW63b0N3ng+?XSb1S]Wqt1b0pFOlwgnja}r?jsV|a^a3R.k6kofUkifRb^fNckklnk"
        + "j@fQodjtX6fQbsbGogi{fOj0fPa6fOd]etnjkBfRk8jtbbfObrbb",
    ),
    ("rotate-90", 3, 5, "cPGuK=czS:SXJC#ua=fUjzO2AU[mWnSNsW"),
  ]

  @Test(arguments: components)
  func aPictureHasTheBlurHashOfTheReference(name: String, columns: Int, rows: Int, text: String) throws {
    let hash = try BlurHash(Golden.bitmap(name), columns: columns, rows: rows)
    #expect(hash.string == text)
    #expect((hash.columns, hash.rows) == (columns, rows))
    #expect(try BlurHash(text) == hash)
    #expect(hash.averageColor == PixelColor(red: 145, green: 130, blue: 108))
  }

  @Test(arguments: [
    "", "L", "LEHV6", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "LEHV6nWB2yk8pyo0adR*.7kCMdn\"",
    "~~~~~~", "ÄÖÜäöü", "00~~~~", "10000~~~",
  ])
  func textThatIsNoBlurHashIsAnError(text: String) {
    #expect(failure { try BlurHash(text) }?.code == .corrupt)
    #expect(failure { try BlurHash(text + String(repeating: "0", count: 1_000_000)) }?.code == .corrupt)
  }

  @Test(arguments: [(0, 5), (5, 0), (-1, 5), (1025, 5), (Int.max, Int.max)])
  func aBlurHashIsShownAtSizesWithinLimits(width: Int, height: Int) throws {
    let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    #expect(failure { try hash.bitmap(width: width, height: height) }?.code == .invalidSize)
    #expect(failure { try hash.bitmap(width: 5, height: 5, punch: .nan) }?.code == .invalidSize)
    #expect(failure { try hash.bitmap(width: 5, height: 5, punch: 1e6) }?.detail.contains("1000000") == true)
    #expect(
      failure { try BlurHash(Bitmap.testPattern(width: 5, height: 5), columns: width, rows: height) }?.code
        == .invalidSize
    )
  }

  @Test
  func moreContrastMovesColoursAwayFromTheMean() throws {
    let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let contrasts = try [0, 1, 2].map { try hash.bitmap(width: 20, height: 20, punch: $0).contrast }
    #expect(contrasts == contrasts.sorted())
    #expect(contrasts[0] == 0)
  }

  @Test
  func anyTextIsAHashOrAnError() {
    var generator = SplitMix64(seed: 6)
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~ ")
    var count = 0
    for _ in 0..<20_000 {
      let text = String(
        (0..<Int.random(in: 4...10, using: &generator)).compactMap { _ in digits.randomElement(using: &generator) }
      )
      guard let hash = try? BlurHash(text) else { continue }
      count += 1
      #expect((try? hash.bitmap(width: 3, height: 3)) != nil)
    }
    #expect(count > 5)
  }
}
