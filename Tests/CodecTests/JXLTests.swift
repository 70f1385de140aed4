import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct JXLTests {
  @Test
  func aProgressivePictureIsShownCoarselyWhenAskedFor() throws {
    let file = try Fixture.data("progressive.jxl")
    let whole = try decode(file).bitmap

    let decoded = try decode(file.prefix(file.count * 9 / 10)) { $0.acceptsPartial = true }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.size == whole.size)
    #expect(decoded.bitmap.psnr(against: whole) > 15)
  }

  @Test
  func theProfileIsThatOfThePixels() throws {
    let info = try registry.info(of: Fixture.data("lossless.jxl"))

    #expect(info.colorProfile != nil)
  }

  @Test
  func aProfileOverTheLimitIsLeftOut() throws {
    var limits = DecodeLimits()
    limits.metadataByteCount = 100

    #expect(try registry.info(of: Fixture.data("display-p3.jxl"), limits: limits).colorProfile == nil)
  }
}
