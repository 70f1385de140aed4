import CLibLCMS
import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Profiles of tables, inks and grays, through Little CMS.
struct ProfileTests {
  /// Little CMS itself, without its short cuts.
  static func littleCMS(_ profile: [UInt8], _ format: UInt32, _ pixels: [UInt8], count: Int) throws -> [SIMD4<UInt8>] {
    let source = unsafe cmsOpenProfileFromMem(profile, UInt32(profile.count))
    let target = unsafe cmsCreate_sRGBProfile()
    let transform = unsafe cmsCreateTransform(
      source,
      format,
      target,
      vitrine_lcms_rgba_8,
      UInt32(INTENT_RELATIVE_COLORIMETRIC),
      UInt32(cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION),
    )
    let isMade = unsafe transform != nil
    try #require(isMade)
    defer {
      unsafe cmsDeleteTransform(transform)
      unsafe cmsCloseProfile(source)
      unsafe cmsCloseProfile(target)
    }
    var result = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 255), count: count)
    // As many pixels of four bytes as are converted.
    unsafe cmsDoTransform(transform, pixels, &result, UInt32(count))
    return result
  }

  /// Compares red, green and blue.
  static func expectColors(
    of result: Bitmap,
    _ expected: [SIMD4<UInt8>],
    within tolerance: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
  ) {
    let off = zip(result.pixels, expected).enumerated().first { _, pair in
      (0..<3).contains { abs(Int(pair.0[$0]) - Int(pair.1[$0])) > tolerance }
    }
    let place = off.map { "pixel \($0.offset): \($0.element.0) in place of \($0.element.1)" }
    #expect(place == nil, sourceLocation: sourceLocation)
  }

  /// A picture of all sorts of four numbers.
  static let four = Bitmap.pixels(width: 64, height: 64, alpha: .straight) { x, y in
    SIMD4(UInt8(x * 4), UInt8(y * 4), UInt8((x * 7 + y * 3) % 256), UInt8((x ^ y) * 4))
  }

  static func apply(_ profile: [UInt8], _ model: ColorModel, to picture: Bitmap) -> Bitmap {
    var info = ImageInfo(format: .jpeg, storedWidth: picture.width, storedHeight: picture.height)
    info.colorProfile = ColorProfile(data: Data(profile))
    info.colorModel = model
    let transform = ColorTransform(info, rows: model == .cmyk ? .cmyk : .rgb, to: .sRGB)
    return unsafe Bitmap(width: picture.width, height: picture.height, alpha: picture.alpha) { target in
      unsafe picture.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      unsafe transform?.apply(to: MutableElements(target))
    }
  }

  @Test
  func inksAreWhatLittleCMSMakesOfThem() throws {
    let profile = ICCFile.press.bytes
    let stored = Self.four.pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] }

    let result = Self.apply(profile, .cmyk, to: Self.four)

    let expected = try Self.littleCMS(profile, vitrine_lcms_cmyk_8, stored, count: 64 * 64)
    // Its short cut for bytes is three levels off where it is darkest.
    Self.expectColors(of: result, expected, within: 3)
  }

  @Test
  func aTableOfColoursIsWhatLittleCMSMakesOfIt() throws {
    let profile = ICCFile.exchanged.bytes
    let stored = Self.four.pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] }

    let result = Self.apply(profile, .rgb, to: Self.four)

    let expected = try Self.littleCMS(profile, vitrine_lcms_rgba_8, stored, count: 64 * 64)
    Self.expectColors(of: result, expected, within: 2)
    // Coverage stays what it was.
    #expect(zip(result.pixels, Self.four.pixels).allSatisfy { $0.w == $1.w })
  }

  @Test
  func aMatrixIsWithinALevelOfLittleCMS() throws {
    let profile = ICCFile.wide.bytes
    let stored = Self.four.pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] }

    let result = Self.apply(profile, .rgb, to: Self.four)

    let expected = try Self.littleCMS(profile, vitrine_lcms_rgba_8, stored, count: 64 * 64)
    Self.expectColors(of: result, expected, within: 1)
  }

  @Test
  func graysThatCountLightnessAreWhatLittleCMSMakesOfThem() throws {
    let profile = ICCFile.lightness.bytes
    let grays = Bitmap.pixels(width: 256, height: 1, alpha: .opaque) { x, _ in SIMD4(UInt8(x), UInt8(x), UInt8(x), 255)
    }

    let result = Self.apply(profile, .gray, to: grays)

    let expected = try Self.littleCMS(profile, vitrine_lcms_gray_8, (0...255).map { UInt8($0) }, count: 256)
    Self.expectColors(of: result, expected, within: 1)
    // Half the lightness is level 119 of sRGB.
    #expect(abs(Int(result[128, 0].x) - 119) <= 2)
  }

  @Test(arguments: 0..<4)
  func aFullInkHasItsColour(ink: Int) throws {
    var inks = SIMD4<UInt8>()
    inks[ink] = 255

    let result = Self.apply(ICCFile.press.bytes, .cmyk, to: .solid(inks, width: 1, height: 1))[0, 0]

    let color = ICCFile.inks[ink].map { Int((SRGB.encoded($0) * 255).rounded()) }
    // The press's blackest is made sRGB's, which takes a little from all that is dark.
    #expect((0..<3).allSatisfy { abs(Int(result[$0]) - color[$0]) <= 4 })
    #expect(result.w == 255)
  }

  @Test
  func paperIsWhiteAndAllInksAreBlack() {
    let paper = Self.apply(ICCFile.press.bytes, .cmyk, to: .solid(SIMD4(0, 0, 0, 0), width: 1, height: 1))
    let all = Self.apply(ICCFile.press.bytes, .cmyk, to: .solid(SIMD4(255, 255, 255, 255), width: 1, height: 1))

    #expect(paper[0, 0].isWithin(1, of: SIMD4(255, 255, 255, 255)))
    #expect(all[0, 0].isWithin(2, of: SIMD4(0, 0, 0, 255)))
  }

  @Test(arguments: ["cmyk", "ycck"])
  func aJPEGOfInksGoesThroughItsProfile(name: String) throws {
    let file = try Fixture.data("\(name).jpg").withJPEGProfile(ICCFile.press.bytes)

    let bitmap = try Bitmap(decoding: file)

    // Made by ImageMagick, which inverts Adobe's inks and asks Little CMS about each pixel in 16 bits.
    let expected = try Fixture.reference("\(name)-profile")
    #expect(bitmap.alpha == .opaque)
    #expect(bitmap.largestDifference(from: expected) <= 3)
  }

  @Test
  func aThumbnailOfInksIsThatOfTheWholePicture() throws {
    let file = try Fixture.data("cmyk.jpg").withJPEGProfile(ICCFile.press.bytes)
    let whole = try Bitmap(decoding: file)

    let small = try Bitmap(decoding: file, size: .pixels(30, 30))

    #expect(small.psnr(against: try whole.resized(to: .pixels(30, 30))) > 33)
  }

  @Test(arguments: ["cmyk", "ycck"])
  func inksWithoutAProfileOrWithOneForLightAreEachTheirShare(name: String) throws {
    let file = try Fixture.data("\(name).jpg")

    let plain = try Bitmap(decoding: file)
    let mistaken = try Bitmap(decoding: file.withJPEGProfile(ICCFile.wide.bytes))

    #expect(plain.psnr(against: try Fixture.reference(name)) > 38)
    #expect(mistaken.largestDifference(from: plain) == 0)
  }

  @Test
  func aDamagedPictureOfInksLacksWhatIsMissing() throws {
    let file = try Fixture.data("cmyk.jpg").withJPEGProfile(ICCFile.press.bytes)

    let decoded = try decode(file.prefix(file.count * 4 / 5)) { $0.acceptsPartial = true }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap[0, 0].w == 255)
    #expect(decoded.bitmap[30, 42].w == 0)
  }

  @Test
  func aTableOfColoursIsUsedInAPNG() throws {
    let picture = Bitmap.testPattern(width: 20, height: 14)
    let file = try picture.encoded(as: .png).withPNGProfile(ICCFile.exchanged.bytes)

    let result = try Bitmap(decoding: file)

    let exchanged = Bitmap.pixels(width: 20, height: 14, alpha: .opaque) { x, y in
      let color = picture[x, y]
      return SIMD4(color.z, color.y, color.x, 255)
    }
    // Seventeen steps of a table are not exact, and black point compensation moves the darkest.
    #expect(result.largestDifference(from: exchanged) <= 4)
  }

  @Test
  func aProfileForOtherPixelsCountsAsNone() throws {
    let picture = Bitmap.testPattern(width: 20, height: 14)
    let png = try picture.encoded(as: .png)

    for profile in [ICCFile.press, .lightness] {
      let result = try Bitmap(decoding: png.withPNGProfile(profile.bytes))

      #expect(result.largestDifference(from: picture) == 0)
    }
  }

  @Test
  func aProfileThatIsTooLongCountsAsNone() throws {
    let profile = ICCFile.exchanged.bytes + [UInt8](repeating: 0, count: ProfileTransform.profileLimit)

    let result = Self.apply(profile, .rgb, to: Self.four)

    #expect(result.largestDifference(from: Self.four) == 0)
  }

  @Test
  func aTransformIsMadeOnceAndSharedByThreads() async throws {
    // A profile of this test's own, since the cache is everyone's.
    let profile = ColorProfile(data: Data(ICCFile.exchanged.bytes + .text("shared by threads")))
    let first = try #require(ProfileTransform.cached(profile, .rgb, to: .sRGB))
    #expect(ProfileTransform.cached(profile, .rgb, to: .sRGB) === first)
    #expect(ProfileTransform.cached(profile, .rgb, to: .displayP3) !== first)
    let expected = Self.apply(Array(profile.data), .rgb, to: Self.four).pixels

    let results = await withTaskGroup(of: [SIMD4<UInt8>].self) { group in
      for _ in 0..<8 { group.addTask { Self.apply(Array(profile.data), .rgb, to: Self.four).pixels } }
      return await group.reduce(into: []) { $0.append($1) }
    }

    #expect(results.allSatisfy { $0 == expected })
  }

  @Test(arguments: ICCFile.all.indices)
  func aBrokenProfileNeverFailsThePicture(index: Int) throws {
    let profile = ICCFile.all[index].bytes
    let png = try Bitmap.testPattern(width: 6, height: 5).encoded(as: .png)
    let inks = try Fixture.data("cmyk.jpg")
    let gray = try Fixture.data("grey.jpg")
    var generator = SplitMix64(seed: UInt64(index))

    for round in 0..<12 {
      var mutated = profile
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        // Mostly where structure is.
        let end = round.isMultiple(of: 3) ? mutated.count : min(mutated.count, 330)
        mutated[Int.random(in: 0..<end, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      if round.isMultiple(of: 5) { mutated.removeLast(.random(in: 0..<mutated.count, using: &generator)) }

      let sizes = try [png.withPNGProfile(mutated), inks.withJPEGProfile(mutated), gray.withJPEGProfile(mutated)].map {
        try Bitmap(decoding: $0, size: .pixels(5, 5)).width
      }

      #expect(sizes == [5, 5, 5])
    }
  }

  @Test
  func everyByteOfAProfileMayBeWrong() {
    let profile = ICCFile.lightness.bytes
    let pixel = Bitmap.solid(SIMD4(10, 10, 10, 255), width: 1, height: 1)

    for offset in profile.indices {
      for value in [0, 0x7F, 0xFF] as [UInt8] {
        var mutated = profile
        mutated[offset] = value

        #expect(Self.apply(mutated, .gray, to: pixel)[0, 0].w == 255)
      }
    }
  }
}
