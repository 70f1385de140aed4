import Testing
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Turns and crops that are saved.
struct PictureEditTests {
  private static let picture = Bitmap.pixels(width: 80, height: 48) { x, y in
    SIMD4(UInt8(3 * x), UInt8(5 * y), UInt8((x * y) & 63), 255)
  }

  @Test(arguments: [0, 1, 2, 3], [false, true])
  func theProcessorsMakeWhatTheOrientationSays(turns: Int, isMirrored: Bool) throws {
    let part = PixelRegion(x: 10, y: 7, width: 40, height: 21)
    let edit = PictureEdit(turns: turns, isMirrored: isMirrored, part: part)
    var image = ImageContainer(Self.picture)
    for step in edit.processors { image = try step.process(image) }
    let size = edit.orientation.applied(width: 40, height: 21)
    #expect(image.bitmap.size == [size.width, size.height])
    for (x, y) in [(0, 0), (39, 0), (3, 20), (17, 11)] {
      let place = edit.orientation.upright(x: x, y: y, width: 40, height: 21)
      #expect(image.bitmap[place.x, place.y] == Self.picture[10 + x, 7 + y])
    }
    #expect(!edit.isEmpty && PictureEdit().isEmpty && PictureEdit().processors.isEmpty)
  }

  private func file(
    _ encoding: ImageEncoding,
    _ bitmap: Bitmap = Self.picture,
  ) throws -> (TemporaryFolder, String, EditedFile) {
    let folder = try TemporaryFolder()
    let url = try folder.write(bitmap.encoded(as: encoding), to: "a.picture")
    return try (folder, url.path, EditedFile(url.path, .standard, DecodeLimits()))
  }

  @Test
  func aJPEGIsCroppedBetweenItsBlocksAndPutBack() throws {
    let (folder, path, file) = try file(.jpeg(quality: 90))
    defer { withExtendedLifetime(folder) {} }
    var edit = PictureEdit(turns: 1, isMirrored: true, part: PixelRegion(x: 20, y: 20, width: 30, height: 20))
    #expect(try file.changed(by: edit) == nil)
    let part = try #require(file.losslessPart(of: edit, keepsSize: false) as PixelRegion?)
    edit.part = part
    let changed = try #require(try file.changed(by: edit))
    let change = try FileChange.change(path, from: file.data, to: changed)
    let after = try EditedFile(path, .standard, DecodeLimits())
    #expect(after.info.width == part.height && after.info.height == part.width && after.version != file.version)
    try change.restore()
    #expect(try FileContents.at(ByteString(fileText: path)) == file.data)
  }

  @Test
  func otherFormatsAreWrittenAgainIfThatKeepsTheirColours() throws {
    let (folder, _, png) = try file(.png())
    defer { withExtendedLifetime(folder) {} }
    #expect(
      png.isLossless && png.encoding?.metadata == .keep && png.losslessPart(of: PictureEdit(), keepsSize: true) == nil
    )
    #expect(try png.changed(by: PictureEdit(turns: 1)) == nil)
    let (other, _, webP) = try file(ImageEncoding(.webp, isLossless: true))
    defer { withExtendedLifetime(other) {} }
    #expect(webP.isLossless && webP.encoding != nil)
    let (last, _, gif) = try file(ImageEncoding(.gif))
    defer { withExtendedLifetime(last) {} }
    #expect(!gif.isLossless && gif.encoding != nil)
  }

  @Test
  func aJPEGWithASecondPictureIsRefused() throws {
    var data = try Self.picture.encoded(as: .jpeg(quality: 90))
    let body = Array("MPF\0II*\0".utf8) + [UInt8](repeating: 0, count: 20)
    data.insert(contentsOf: [0xFF, 0xE2, 0, UInt8(body.count + 2)] + body, at: 2)
    let folder = try TemporaryFolder()
    let path = try folder.write(data, to: "a.jpg").path
    #expect(throws: ImageError.self) { try EditedFile(path, .standard, DecodeLimits()) }
    #expect(throws: (any Error).self) { try EditedFile(folder.path + "/none", .standard, DecodeLimits()) }
  }
}
