import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineTIFF
import VitrineTestSupport
import VitrineTesting

struct HostileTests {
  @Test(arguments: HostileImage.external.filter { $0.limit != nil })
  func aBombIsRefusedByTheLimitItPasses(image: HostileImage) {
    let error = failure { try decode(image.data, .pixels(64, 64)) }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == image.limit)
  }

  @Test(arguments: HostileImage.external.filter { $0.limit == nil && $0.name.contains("multiply") })
  func whatMultipliesIsRefused(image: HostileImage) {
    let error = failure { try decode(image.data, .pixels(64, 64)) }

    #expect(error?.code == .overLimit || error?.code == .corrupt)
  }

  @Test
  func directoriesThatOnlyLeadBackAreNoPicture() throws {
    let image = try #require(HostileImage.external.first { $0.name.hasPrefix("circle") })

    #expect(failure { try decode(image.data) }?.code == .corrupt)
  }

  /// Found by fuzzing: nobody asks all of four thousand million strips where they are.
  @Test
  func aDirectoryOfStripsWithoutEndIsRefused() throws {
    let file = try #require(
      Data(
        base64Encoded: "SUkqAAgAAAAIAAABBAABAAAAAQAAAAEBBAABAAAAAQAA+P3+/AAEAAAAbgAAAAYBAwABAAAABQAAABEBBAAB"
          + "AAAAdgAAABUBAwABAAAABAAAABYBBAABAAAAAQAAABcBBAABAAAABAAAAAAAAAAIAAgACAAIAAAAAEE="
      )
    )

    let error = failure { try decode(file) }

    #expect(error?.code == .truncated || error?.code == .corrupt)
  }

  /// As a mapped file that changes after its header was read.
  @Test(arguments: [
    ("crop.avif", AVIFDecoder() as any ImageDecoder), ("lossy.heic", HEIFDecoder()), ("lossy.jxl", JXLDecoder()),
    ("lzw.tiff", TIFFDecoder()), ("float.tiff", TIFFDecoder()),
  ])
  func aPictureThatIsNotTheOneOfItsHeaderIsAnError(name: String, decoder: any ImageDecoder) throws {
    let file = try Fixture.data(name)
    let known = try registry.info(of: file)
    let info = ImageInfo(format: known.format, storedWidth: known.storedWidth * 100, storedHeight: known.storedHeight)
    var row = [UInt8](repeating: 0, count: 4 * info.storedWidth)

    // The file and the row are only used while the closures run.
    let error = failure {
      try unsafe file.withUnsafeBytes { bytes in
        let rows = try unsafe decoder.open(bytes, RowRequest(info: info, minimumScale: 1))
        _ = try unsafe row.withUnsafeMutableBytes { try unsafe rows?.read(into: $0, bytesPerRow: $0.count, count: 1) }
      }
    }

    #expect(error?.code == .corrupt)
  }

  @Test(arguments: [("animated.avif", 2), ("animated.jxl", 2)])
  func framesBelowTheOneAskedForAreCounted(name: String, frame: Int) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)

    let error = failure {
      try decode(file) { options in
        options.frame = frame
        options.limits.composedPixelCount = info.width * info.height
      }
    }

    #expect(error?.limit == .composedPixelCount)
  }
}
