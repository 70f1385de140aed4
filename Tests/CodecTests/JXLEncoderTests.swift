import Testing
import VitrineImaging
import VitrineTestSupport
@testable import VitrineJXL
import VitrineRuntime
import VitrineTesting

struct JXLEncoderTests {
  private static let picture = Bitmap.noisy(width: 300, height: 220)

  @Test
  func metadataIsWrittenIntoBoxes() throws {
    let exif = Data("MM\0\u{2A}\0\0\0\u{8}\0\0\0\0\0\0".utf8)
    let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)

    let file = try JXLEncoder().encode(
      EncoderInput(Self.picture, metadata: WrittenMetadata(exif: exif, xmp: xmp)),
      JXLOptions(),
    )

    #expect(file.boxes("Exif") == [[0, 0, 0, 0] + exif])
    #expect(file.boxes("xml ") == [xmp])
    #expect(try decode(file).bitmap.psnr(against: Self.picture) > 25)
  }

  @Test
  func aPictureWithoutMetadataIsABareCodestream() throws {
    #expect(try encoders.encode(Self.picture, as: .jxl()).prefix(2) == Data([0xFF, 0x0A]))
  }

  @Test
  func theEffortChangesTheBytes() throws {
    let files = try [3, 7].map { try encoders.encode(Self.picture, as: .jxl(effort: $0)) }

    #expect(files[0] != files[1])
  }

  @Test
  func aProgressivePictureIsShownFromItsBeginning() throws {
    let bitmap = Bitmap.noisy(width: 600, height: 600)
    let file = try encoders.encode(bitmap, as: .jxl(isProgressive: true))

    let decoded = try decode(file.prefix(file.count * 9 / 10)) { $0.acceptsPartial = true }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.psnr(against: bitmap) > 15)
  }

  @Test
  func theDistanceIsThatOfLibjxl() {
    #expect(abs(JXLOptions(quality: 90).distance - 1) < 1e-5)
    #expect(abs(JXLOptions(quality: 85).distance - 1.45) < 1e-5)
    #expect(abs(JXLOptions(quality: 30).distance - 6.4) < 1e-5)
    #expect(abs(JXLOptions(quality: 1).distance - 23.867_67) < 1e-4)
    #expect(JXLOptions(quality: 100).isLossless)
    #expect(JXLOptions(quality: 100).distance == 0)
  }

  @Test
  func theLowestQualityIsEncoded() throws {
    #expect(try decode(encoders.encode(Self.picture, as: .jxl(quality: 1))).bitmap.size == [300, 220])
  }
}
