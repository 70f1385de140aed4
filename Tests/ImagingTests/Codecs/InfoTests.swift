import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct InfoTests {
  static func pngProfile(_ profile: [UInt8]) -> [UInt8] { .text("profile\0") + [0] + PNGFile.zlib(profile) }

  static let profiles: [(profile: [UInt8], name: String)] = [
    (ICCProfile.version2("Wide Colours"), "Wide Colours"),
    (ICCProfile.version4(german: "Weite Farben", english: "Wide Colours"), "Wide Colours"),
  ]

  @Test(arguments: profiles)
  func aProfileOfAJPEGIsFoundAndNamed(profile: [UInt8], name: String) throws {
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .jpeg)
      .withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 1] + profile)

    let found = try info(file).colorProfile

    #expect(found?.data == Data(profile))
    #expect(found?.name == name)
  }

  @Test(arguments: profiles)
  func aProfileOfAPNGIsFoundAndNamed(profile: [UInt8], name: String) throws {
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
      .withPNGChunk("iCCP", Self.pngProfile(profile))

    let found = try info(file).colorProfile

    #expect(found?.data == Data(profile))
    #expect(found?.name == name)
  }

  @Test(.enabled(if: !Shape.isApple), arguments: profiles)
  func aProfileOfAWebPIsFoundAndNamed(profile: [UInt8], name: String) throws {
    let still = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .webp)
    let padding: [UInt8] = profile.count.isMultiple(of: 2) ? [] : [0]
    var chunks: [UInt8] = .text("VP8X") + .little32(10) + [0x20, 0, 0, 0, 7, 0, 0, 7, 0, 0]
    chunks += .text("ICCP") + .little32(profile.count) + profile + padding
    chunks += still.dropFirst(12)
    let file = Data(.text("RIFF") + .little32(chunks.count + 4) + .text("WEBP") + chunks)

    let decoded = try decode(file)

    #expect(decoded.info.colorProfile?.data == Data(profile))
    #expect(decoded.info.colorProfile?.name == name)
    #expect(decoded.bitmap.size == [8, 8])
  }

  @Test
  func aProfileInSeveralSegmentsIsPutTogetherInOrder() throws {
    let profile = ICCProfile.version2("In two parts")
    let (first, second) = (Array(profile.prefix(100)), Array(profile.dropFirst(100)))
    // The one put in last comes first in the file.
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .jpeg)
      .withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 2] + first)
      .withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [2, 2] + second)

    #expect(try info(file).colorProfile?.data == Data(profile))
  }

  /// As libjpeg and browsers have it.
  @Test(arguments: [
    [(1, 2)], [(0, 1)], [(1, 0)], [(1, 2), (3, 2)], [(1, 2), (1, 2)], [(1, 2), (2, 3)], [(2, 2), (3, 2)],
  ])
  func aProfileWhosePartsAreWronglyNumberedIsIgnored(numbers: [(UInt8, UInt8)]) throws {
    var file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .jpeg)
    let profile = ICCProfile.version2("In parts")
    for (number, count) in numbers {
      file = file.withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [number, count] + profile)
    }

    #expect(try info(file).colorProfile == nil)
    #expect(throws: Never.self) { try decode(file) }
  }

  @Test
  func theProfileOfAPhotographIsNamed() throws {
    let profile = try #require(try info(Photograph.data("caps-p3-profile.jpg")).colorProfile)

    #expect(profile.name?.contains("P3") == true)
  }

  @Test
  func aFileWithoutAProfileHasNone() throws {
    #expect(try info(Fixture.data("baseline-420.jpg")).colorProfile == nil)
  }

  @Test
  func everyPrefixOfAProfileIsReadWithoutHarm() {
    for profile in Self.profiles.map(\.profile) {
      for count in 0..<profile.count { _ = ColorProfile(data: Data(profile.prefix(count))).name }
      for offset in 128..<profile.count {
        _ = ColorProfile(data: Data(profile).replacing(offset, with: 0xFF)).name
      }
    }
  }

  @Test
  func coloursOfAWiderProfileAreBroughtToSRGB() throws {
    // Another encoding of a picture of the suite: the same colours, as far as sRGB has them.
    let photograph = try Photograph.data("caps-p3-profile.jpg")
    let bitmap = try Bitmap(decoding: photograph, size: .pixels(96, 64))
    let profile = try #require(try info(photograph).colorProfile)
    let asStored = try Bitmap(decoding: photograph.without(profile), size: .pixels(96, 64))

    // Red as P3 is redder as sRGB: the stored number is the smaller one.
    let redness = { (bitmap: Bitmap) in bitmap.pixels.map { Int($0.x) - Int($0.y) }.max() ?? 0 }
    #expect(redness(bitmap) > redness(asStored) + 5)
  }

  @Test(arguments: [100, 101, 200])
  func anAPNGTellsFramesAndDuration(denominator: Int) throws {
    // Two frames of 50/denominator s, the first of them the default picture.
    var control: [UInt8] = .big32(0) + .big32(8) + .big32(8)
    control += .big32(0) + .big32(0)
    control += .big16(50) + .big16(denominator) + [0, 0]
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
      .withPNGChunk("fcTL", control).withPNGChunk("fcTL", control)
      .withPNGChunk("acTL", .big32(2) + .big32(0))

    let header = try info(file)

    #expect(header.format == .apng)
    #expect(header.frameCount == 2)
    #expect(abs(header.duration - 100 / Double(denominator)) < 1e-9)
  }

  @Test
  func readingAHeaderDecodesNothing() throws {
    // There is nothing to decode behind it.
    let file = try Bitmap.testPattern(width: 300, height: 200).encoded(as: .png).prefix(8 + 25)

    let header = try info(file)

    #expect([header.width, header.height] == [300, 200] as [Int])
  }
}

extension Data {
  /// This file with the marker of a profile spoiled.
  fileprivate func without(_ profile: ColorProfile) throws -> Data {
    let range = try #require(firstRange(of: Data([UInt8].text("ICC_PROFILE"))))
    return replacing(range.lowerBound - startIndex, with: 0x58)
  }
}
