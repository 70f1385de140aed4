import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// What headers say, without a pixel decoded.
struct HeaderTests {
  @Test(arguments: [
    ("lossy-420.avif", 8, false), ("444-10-bit.avif", 10, false), ("422-12-bit.avif", 12, false),
    ("grey.avif", 8, false), ("alpha.avif", 8, true), ("premultiplied.avif", 8, true),
    ("lossy.heic", 8, false), ("10-bit.heic", 10, false), ("grey.heic", 8, false), ("alpha.heic", 8, true),
    ("lossy.jxl", 8, false), ("16-bit.jxl", 16, false), ("grey.jxl", 8, false), ("alpha.jxl", 8, true),
    ("lzw.tiff", 8, false), ("16-bit.tiff", 16, false), ("fax.tiff", 1, false), ("palette.tiff", 8, false),
    ("alpha.tiff", 8, true), ("associated.tiff", 8, true), ("cmyk.tiff", 8, false), ("float.tiff", 32, false),
  ])
  func sizeDepthAndAlphaAreTold(name: String, bits: Int, hasAlpha: Bool) throws {
    let info = try registry.info(of: Fixture.data(name))

    #expect([info.width, info.height] == [61, 43])
    #expect(info.bitsPerComponent == bits)
    #expect(info.hasAlpha == hasAlpha)
    #expect(info.frameCount == 1)
    #expect(info.duration == 0)
  }

  @Test(arguments: 1...8, [".avif", ".jxl", ".tiff"])
  func theOrientationIsTold(number: Int, ending: String) throws {
    let info = try registry.info(of: Fixture.data("orientation-\(number)\(ending)"))

    #expect(info.orientation.rawValue == number)
    #expect([info.width, info.height] == [48, 32])
  }

  @Test(arguments: ["animated.avif", "animated.jxl"])
  func framesAndDurationAreTold(name: String) throws {
    let info = try registry.info(of: Fixture.data(name))

    #expect(info.frameCount == 3)
    #expect(abs(info.duration - 0.3) < 0.001)
  }

  @Test(arguments: [
    ("grey.avif", ColorModel.gray), ("lossy-420.avif", .rgb), ("grey.jxl", .gray), ("lossy.jxl", .rgb),
    ("grey.tiff", .gray), ("float.tiff", .gray), ("bilevel.tiff", .gray), ("cmyk.tiff", .cmyk), ("palette.tiff", .rgb),
  ])
  func whatTheNumbersCountIsTold(name: String, model: ColorModel) throws {
    #expect(try registry.info(of: Fixture.data(name)).colorModel == model)
  }

  @Test
  func aCropIsPartOfTheSize() throws {
    let info = try registry.info(of: Fixture.data("crop.avif"))

    #expect([info.width, info.height] == [40, 30])
  }

  @Test
  func whatIsSRGBNeedsNoProfile() throws {
    #expect(try registry.info(of: Fixture.data("lossy-420.avif")).colorProfile == nil)
  }

  @Test(arguments: [(1, 13), (2, 2), (9, 16), (12, 18), (0, 13), (99, 13), (12, -1)])
  func noProfileIsMadeOfSRGBNorOfCurvesThatItCannotHold(primaries: Int, transfer: Int) {
    #expect(ColorProfile(primaries: primaries, transfer: transfer) == nil)
  }

  @Test(arguments: [
    (12, 13, "Display P3"), (9, 14, "BT.2020"), (1, 8, "sRGB primaries, linear"), (5, 6, "BT.601 625"),
  ])
  func aProfileMadeOfCodePointsHasAName(primaries: Int, transfer: Int, name: String) {
    #expect(ColorProfile(primaries: primaries, transfer: transfer)?.name == name)
  }
}
