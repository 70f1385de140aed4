import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Display P3, and colours as the chunks of PNG say them.
struct ColorSpaceTests {
  static func solidPNG(_ color: SIMD4<UInt8>) throws -> Data {
    try Bitmap.solid(color, width: 3, height: 2).encoded(as: .png)
  }

  static func inP3(_ file: Data) throws -> Bitmap { try decode(file) { $0.colorSpace = .displayP3 }.bitmap }

  // Computed in double precision from the primaries of both.
  static let pairs: [(sRGB: SIMD4<UInt8>, p3: SIMD4<UInt8>)] = [
    (SIMD4(255, 0, 0, 255), SIMD4(234, 51, 35, 255)),
    (SIMD4(0, 255, 0, 255), SIMD4(117, 251, 76, 255)),
    (SIMD4(215, 93, 31, 255), SIMD4(200, 100, 50, 255)),
    (SIMD4(128, 128, 128, 255), SIMD4(128, 128, 128, 255)),
    (SIMD4(255, 255, 255, 255), SIMD4(255, 255, 255, 255)),
    (SIMD4(0, 0, 0, 255), SIMD4(0, 0, 0, 255)),
  ]

  @Test(arguments: pairs)
  func coloursHaveTheirValuesInP3(sRGB: SIMD4<UInt8>, p3: SIMD4<UInt8>) throws {
    let result = try Self.inP3(Self.solidPNG(sRGB))

    #expect(result.colorSpace == .displayP3)
    #expect(result[1, 1].isWithin(1, of: p3))
    // There and back at the edge of what sRGB holds, where a level of the one is three of the other.
    #expect(result.converted(to: .sRGB)[1, 1].isWithin(3, of: sRGB))
  }

  @Test
  func anImageIsInSRGBUnlessTold() throws {
    #expect(try Bitmap(decoding: Photograph.data("caps-p3-profile.jpg"), size: .pixels(30, 30)).colorSpace == .sRGB)
    #expect(Bitmap.testPattern(width: 2, height: 2).colorSpace == .sRGB)
  }

  @Test
  func aPhotographInP3KeepsItsNumbers() throws {
    let file = try Photograph.data("caps-p3-profile.jpg")
    let size = TargetSize.pixels(200, 200)
    // Without its profile it is read as it is stored.
    let stored = try Bitmap(decoding: file.replacing("ICC_PROFILE", with: "ICC_PROFILX"), size: size)

    let kept = try decode(file, size) { $0.colorSpace = .displayP3 }.bitmap
    let cut = try Bitmap(decoding: file, size: size)

    #expect(kept.largestDifference(from: stored) <= 1)
    #expect(kept.converted(to: .sRGB).largestDifference(from: cut) <= 1)
    #expect(kept.largestDifference(from: cut) > 5)
  }

  @Test
  func aProfileOfGraysIsIgnoredInColours() throws {
    let gray = ICCFile(space: "GRAY", connection: "XYZ ", deviceClass: "mntr", tags: [("kTRC", ICCFile.gamma(1))]).bytes
    let plain = Bitmap.testPattern(width: 8, height: 8)

    for (format, file) in [
      (ImageEncoding.jpeg(), try plain.encoded(as: .jpeg()).withJPEGProfile(gray)),
      (.png(), try plain.encoded(as: .png()).withPNGProfile(gray)),
    ] {
      #expect(try Bitmap(decoding: file).pixels == Bitmap(decoding: plain.encoded(as: format)).pixels)
    }
    // Grays are changed by it; ImageIO writes colours.
    guard !Shape.isApple else { return }
    let step = Bitmap.solid(SIMD4(100, 100, 100, 255), width: 8, height: 8)
    #expect(try Bitmap(decoding: step.encoded(as: .png()).withPNGProfile(gray))[0, 0].x > 150)
  }

  @Test
  func theColourSpaceStaysThroughChanges() throws {
    let picture = try Self.inP3(Bitmap.testPattern(width: 20, height: 10).encoded(as: .png))
    let soft = try Self.inP3(Bitmap.solid(SIMD4(200, 30, 90, 128), width: 20, height: 10).encoded(as: .png))

    let resized = try picture.resized(to: .pixels(10, 10))

    #expect(resized.colorSpace == .displayP3)
    #expect(resized[9, 0].isWithin(12, of: picture[19, 0]))
    #expect(try picture.cropped(x: 1, y: 1, width: 2, height: 2).colorSpace == .displayP3)
    #expect(soft.premultiplied().colorSpace == .displayP3)
    #expect(soft.premultiplied().straightened().colorSpace == .displayP3)
    #expect(soft.flattenedOverWhite().colorSpace == .displayP3)
    #expect(soft.converted(to: .sRGB)[3, 3].isWithin(1, of: SIMD4(200, 30, 90, 128)))
  }

  @Test(arguments: Shape.written([.png, .jpeg, .webp]))
  func whatIsWrittenIsSRGB(format: ImageFormat) throws {
    let picture = Bitmap.solid(SIMD4(215, 93, 31, 255), width: 16, height: 16)
    let wide = try Self.inP3(picture.encoded(as: .png))

    let result = try Bitmap(decoding: wide.encoded(as: ImageEncoding(format, quality: 95)))

    #expect(result[8, 8].isWithin(format == .png ? 1 : 5, of: SIMD4(215, 93, 31, 255)))
  }

  @Test
  func profilesOfAllKindsLeadToP3() throws {
    let picture = Bitmap.testPattern(width: 20, height: 14)
    let png = try picture.encoded(as: .png)
    let inks = try Fixture.data("cmyk.jpg")
    let files = [
      png.withPNGProfile(ICCFile.exchanged.bytes), inks.withJPEGProfile(ICCFile.press.bytes), inks,
      try Fixture.data("grey.jpg").withJPEGProfile(ICCFile.lightness.bytes),
    ]

    for file in files {
      let wide = try Self.inP3(file)

      #expect(wide.colorSpace == .displayP3)
      #expect(wide.converted(to: .sRGB).psnr(against: try Bitmap(decoding: file)) > 42)
    }
  }

  // MARK: - PNG's chunks

  /// The chunk `cHRM`: white, red, green, blue.
  static func chromaticities(_ values: [Double]) -> [UInt8] {
    values.flatMap { [UInt8].big32(Int(($0 * 100_000).rounded())) }
  }

  static let p3 = chromaticities([0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06])
  static let color = SIMD4<UInt8>(200, 100, 50, 255)
  static let colorOfP3 = SIMD4<UInt8>(215, 93, 31, 255)

  @Test
  func primariesAndGammaAreUsed() throws {
    let file = try Self.solidPNG(Self.color).withPNGChunk("cHRM", Self.p3).withPNGChunk("gAMA", .big32(45455))

    #expect(try Bitmap(decoding: file)[0, 0].isWithin(1, of: Self.colorOfP3))
    #expect(try Self.inP3(file)[0, 0].isWithin(1, of: Self.color))
  }

  @Test
  func aGammaWithPrimariesIsUsed() throws {
    let sRGB = Self.chromaticities([0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06])
    let file = try Self.solidPNG(Self.color).withPNGChunk("cHRM", sRGB).withPNGChunk("gAMA", .big32(100_000))

    let expected = (0..<3).map { Int((SRGB.encoded(Double(Self.color[$0]) / 255) * 255).rounded()) }
    let result = try Bitmap(decoding: file)[0, 0]
    #expect((0..<3).allSatisfy { abs(Int(result[$0]) - expected[$0]) <= 1 })
  }

  @Test
  func codePointsAreUsedAndComeFirst() throws {
    let plain = try Self.solidPNG(Self.color)
    let file = plain.withPNGChunk("cICP", [12, 13, 0, 1])

    #expect(try Bitmap(decoding: file)[0, 0].isWithin(1, of: Self.colorOfP3))
    #expect(try Bitmap(decoding: file.withPNGProfile(ICCFile.wide.bytes))[0, 0].isWithin(1, of: Self.colorOfP3))
    #expect(try Bitmap(decoding: file.withPNGChunk("sRGB", [0]))[0, 0].isWithin(1, of: Self.colorOfP3))
  }

  @Test
  func whatTheChunksDoNotSaySurelyCountsAsSRGB() throws {
    let plain = try Self.solidPNG(Self.color)
    let wide = plain.withPNGChunk("cHRM", Self.p3).withPNGChunk("gAMA", .big32(45455))
    let files = [
      // A gamma alone, primaries alone, and what says sRGB beside them.
      plain.withPNGChunk("gAMA", .big32(100_000)), plain.withPNGChunk("cHRM", Self.p3), wide.withPNGChunk("sRGB", [0]),
      // Unknown numbers, chunks that are cut short.
      plain.withPNGChunk("cICP", [200, 13, 0, 1]), plain.withPNGChunk("cICP", [12]),
      plain.withPNGChunk("cHRM", Array(Self.p3.dropLast(5))).withPNGChunk("gAMA", .big32(45455)),
      // Primaries without a triangle, a white outside it, no white at all, a gamma of nothing.
      plain.withPNGChunk("cHRM", Self.chromaticities([0.3127, 0.329, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]))
        .withPNGChunk("gAMA", .big32(45455)),
      plain.withPNGChunk("cHRM", Self.chromaticities([0.9, 0.05, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06]))
        .withPNGChunk("gAMA", .big32(45455)),
      plain.withPNGChunk("cHRM", [UInt8](repeating: 0, count: 32)).withPNGChunk("gAMA", .big32(45455)),
      plain.withPNGChunk("cHRM", [UInt8](repeating: 255, count: 32)).withPNGChunk("gAMA", .big32(45455)),
      plain.withPNGChunk("cHRM", Self.p3).withPNGChunk("gAMA", .big32(0)),
    ]

    for (index, file) in files.enumerated() {
      #expect(try Bitmap(decoding: file)[0, 0] == Self.color, "file \(index)")
    }
  }
}

extension Data {
  /// The first `old` replaced by `new`, of the same length.
  fileprivate func replacing(_ old: String, with new: String) -> Data {
    guard let range = firstRange(of: Data(old.utf8)) else { return self }
    var copy = self
    copy.replaceSubrange(range, with: new.utf8)
    return copy
  }
}
