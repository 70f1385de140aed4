import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// Photographs with gain maps, as cameras and other programs wrote them.
@Suite(.needsCorpus)
struct GainMapCorpusTests {
  private static let folder = "avif/tests/data"

  private func decode(_ name: String) throws -> ImageContainer {
    var options = DecodeOptions()
    options.dynamicRange = .high
    return try DecoderRegistry.standard.decode(try Corpus.data("\(Self.folder)/\(name)"), options)
  }

  /// The numbers are in the files, as text.
  @Test
  func adobesPropertiesAreRead() throws {
    let map = try #require(try decode("seine_sdr_gainmap_srgb.jpg").gainMap)
    #expect(map.bitmap.size == [400, 300])
    #expect(map.formula.minimum == SIMD3(-0.256907, -0.261365, -0.280284))
    #expect(map.formula.maximum == SIMD3(1.277177, 1.277203, 1.277969))
    #expect(map.formula.gamma == SIMD3(0.953784, 0.941095, 0.919422))
    #expect(map.formula.alternateHeadroom == 1.3)
  }

  @Test(arguments: ["littleendian", "bigendian"])
  func eachByteOrderOfTheListIsRead(order: String) throws {
    let map = try #require(try decode("paris_exif_xmp_gainmap_\(order).jpg").gainMap)
    // Its own 512x384 are more than the picture has.
    #expect(map.bitmap.size == [403, 302])
    #expect(map.formula.maximum == SIMD3(3.5, 3.6, 3.7))
    #expect(map.formula.baseOffset == SIMD3())
  }

  /// The newer file says its headroom in XMP, the older one in the notes of the camera.
  @Test(arguments: [("new", 4.532783), ("old", 8)])
  func applesMapsAreTranslated(name: String, headroom: Double) throws {
    let image = try decode("apple_gainmap_\(name).jpg")
    let map = try #require(image.gainMap)
    #expect(map.bitmap.size == [192, 256])
    #expect(abs(map.formula.headroom - headroom) < 0.00001)
    // A level of 0 is no gain, and one of 255 all of the headroom; between them, the light of BT.709.
    let levels = AppleGainMap.levels(headroom)
    for (level, stored) in levels.enumerated() {
      let share = Double(level) / 255
      let light = share < 0.081 ? share / 4.5 : pow((share + 0.099) / 1.099, 1 / 0.45)
      let gain = exp2(map.formula.gains[0][Int(stored)])
      #expect(abs(gain / (1 + (headroom - 1) * light) - 1) < 0.02)
    }
  }
}
