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

  /// Columns of 1, 20, 100 and 203 candelas a square metre in PQ, written by libjxl, which stores light for a screen of 255,
  /// or the curve: the last is white, or nearly so where there may be brighter.
  @Test(arguments: [
    (
      "/wpP8JOQR48AEogCAGQDXeUSAAAVKqOMG7yc6/nyQ4fFtI3rDG21bWFJosg4NkkncAgpkK47kdTd"
        + "xTuSpESS8Rjv4jGgIgIAivJUwoBzgGnCiD8Rh38/j0UXoeKDUmGNkIXF41ChoZlgAxA6gYc7uyewtJDgZRK+T24y2DDQWhACXkgI6fjgaGraCewMTMt02x+zWQd2rpAC6TmZ+R//Y/wY48cYZ2bmP/7H+IKSAQD9VwiQCKPsD4z9tBIhUYvIPSBilYVAQbZQ3XBEwWAq9+a/kWZgcWHAluUZXIxCLOB9BrlQVNNEAw==",
      [15, 88, 186, 251],
    ),
    (
      "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAABIanhsY/8KTwT8AOTR"
        + "Iw4HAAAAgAgCAQCsAEs4aZjKg/crKAiA68ePMVjtXyAIAMDzYAHAA2KGQAW4x2rCjFyKk2WJ4gA=",
      [15, 88, 186, 255],
    ),
  ])
  func highDynamicRangeIsNotBlack(text: String, levels: [UInt8]) throws {
    let file = try #require(Data(base64Encoded: text))

    let bitmap = try decode(file).bitmap

    #expect(bitmap.size == [64, 64])
    for (index, level) in levels.enumerated() {
      #expect(bitmap[8 + 16 * index, 10].isWithin(2, of: SIMD4(level, level, level, 255)))
    }
  }

  @Test
  func aProfileOverTheLimitIsLeftOut() throws {
    var limits = DecodeLimits()
    limits.metadataByteCount = 100

    #expect(try registry.info(of: Fixture.data("display-p3.jxl"), limits: limits).colorProfile == nil)
  }
}
