import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Raw files, which show their previews.
struct RawTests {
  /// A picture whose places all differ.
  private static func jpeg(_ width: Int, _ height: Int, _ blue: UInt8) throws -> Data {
    let picture = Bitmap.pixels(width: width, height: height) { x, y in
      SIMD4(UInt8(255 * x / width), UInt8(255 * y / height), blue, 255)
    }
    return try picture.encoded(as: .jpeg(quality: 90))
  }

  private static func files(_ orientation: Orientation = .up) throws -> [(name: String, file: Data)] {
    try RawFiles.all(jpeg(400, 300, 200), jpeg(160, 120, 50), orientation)
  }

  @Test(arguments: [Orientation.up, .right, .down, .left])
  func theLargestPreviewIsShownUpright(orientation: Orientation) throws {
    let preview = try decode(Self.jpeg(400, 300, 200)).bitmap
    let files = try Self.files(orientation)
    #expect(files.count == 8)
    for (name, file) in files {
      #expect(ImageFormat.sniff(file) == .raw, "\(name)")
      let info = try DecoderRegistry.standard.info(of: file)
      let size = orientation.applied(width: 400, height: 300)
      #expect((info.format, info.width, info.height) == (ImageFormat.raw, size.width, size.height), "\(name)")
      #expect(info.orientation == orientation, "\(name)")
      let shown = try decode(file).bitmap
      let place = orientation.upright(x: 390, y: 10, width: 400, height: 300)
      #expect(shown.size == [size.width, size.height] && shown[place.x, place.y] == preview[390, 10], "\(name)")
    }
  }

  @Test
  func aThumbnailOfARawFileIsThatOfItsPreview() throws {
    var options = DecodeOptions()
    options.size = .pixels(100, 100, .fit)
    let jpeg = try Self.jpeg(400, 300, 200)
    let expected = try DecoderRegistry.standard.decode(jpeg, options).bitmap
    for (name, file) in try Self.files() {
      #expect(
        try DecoderRegistry.standard.decode(file, options).bitmap.psnr(against: expected) == .infinity,
        "\(name)",
      )
    }
  }

  @Test
  func theFieldsAreThoseOfTheRawFile() throws {
    for (name, file) in try Self.files(.right) {
      let metadata = try DecoderRegistry.standard.metadata(of: file)
      let fields = metadata.fields
      #expect(
        metadata.exif != nil && metadata.texts.contains { $0.name == "Model" && $0.text == "Model X" },
        "\(name)",
      )
      #expect(fields.model == "Model X" && fields.make != nil, "\(name)")
      #expect(fields.iso == 400 && fields.original?.year == 2024, "\(name)")
    }
  }

  @Test
  func aRAFHasTheOrientationAndTheMetadataOfItsPreview() throws {
    let file = RawFiles.raf(try Self.jpeg(400, 300, 200).withEXIF(.left))
    let info = try DecoderRegistry.standard.info(of: file)
    #expect((info.format, info.width, info.height, info.orientation) == (ImageFormat.raw, 300, 400, Orientation.left))
    #expect(try DecoderRegistry.standard.metadata(of: file).exif != nil)
    #expect(try decode(file).bitmap.size == [300, 400])
  }

  @Test
  func theNewerNotesOfOlympusAreReadToo() throws {
    let blobs = try ["large": [UInt8](Self.jpeg(400, 300, 200)), "small": [UInt8](Self.jpeg(160, 120, 50))]
    let info = try DecoderRegistry.standard.info(of: RawFiles.orf(blobs, .up, name: "OM SYSTEM"))
    #expect(info.width == 400)
  }

  @Test
  func aPlainTIFFIsNoRawFile() throws {
    let plain = RawFiles.tiff(
      .text("II") + [42, 0, 0, 0, 0, 0],
      [RawFiles.Directory([(0x0106, .short(2)), (0x010F, .text("NIKON"))])],
      [:],
    )
    #expect(ImageFormat.sniff(plain) == .tiff)
  }

  // MARK: Errors

  @Test
  func aFileWithoutALargePreviewSaysSo() throws {
    let small = try [UInt8](Self.jpeg(160, 120, 50))
    for (name, file) in [
      ("DNG", RawFiles.dng(["small": small], .up)), ("NEF", RawFiles.nef(["large": small], .up)),
      ("CR3", RawFiles.cr3(["large": small, "small": small], .up)), ("RAF", RawFiles.raf(Data(small))),
    ] {
      let error = failure { try DecoderRegistry.standard.info(of: file) }
      #expect(error?.code == .unsupported && error?.detail.contains("160x120") ?? false, "\(name)")
    }
    let error = failure { try DecoderRegistry.standard.info(of: RawFiles.nef([:], .up)) }
    #expect(error?.code == .unsupported && error?.detail.contains("no JPEG preview") ?? false)
  }

  @Test
  func aFileThatIsCutOffIsTruncated() throws {
    for (name, file) in try Self.files() + [("RAF", RawFiles.raf(Self.jpeg(400, 300, 200)))] {
      for share in [0.3, 0.6, 0.95] {
        let cut = Data(file.prefix(Int(Double(file.count) * share)))
        guard ImageFormat.sniff(cut) == .raw else { continue }
        do throws(ImageError) {
          // The large preview is there, and only parts behind it are missing.
          let size = try decode(cut).bitmap.size
          #expect(size == [400, 300], "\(name) at \(share)")
        } catch {
          #expect(error.code == .truncated || error.code == .unsupported, "\(name): \(error.detail)")
        }
      }
    }
  }

  @Test
  func aPreviewThatIsCutOffIsShownAsFarAsItIsThere() throws {
    let file = RawFiles.raf(try Self.jpeg(400, 300, 200))
    var options = DecodeOptions()
    options.acceptsPartial = true
    let image = try DecoderRegistry.standard.decode(file.dropLast(200), options)
    #expect(image.damage?.code == .truncated && image.bitmap.size == [400, 300])
  }

  @Test
  func directoriesThatGoRoundEnd() throws {
    typealias Directory = RawFiles.Directory
    let round = RawFiles.tiff(
      .text("II") + [42, 0, 0, 0, 0, 0],
      [
        Directory([(0x0106, .short(32803)), (0x014A, .directories([0, 1, 1, 0]))], next: 1),
        Directory([(0x014A, .directories([0, 1]))], next: 0),
      ],
      [:],
    )
    #expect(ImageFormat.sniff(round) == .raw)
    #expect(failure { try DecoderRegistry.standard.info(of: round) }?.code == .unsupported)
    // More directories than any camera writes: the last ones are not read.
    let many = (0..<200).map { Directory([(0x0106, .short(32803))], next: $0 == 199 ? nil : $0 + 1) }
    let long = RawFiles.tiff(.text("II") + [42, 0, 0, 0, 0, 0], many, [:])
    #expect(failure { try DecoderRegistry.standard.info(of: long) }?.code == .unsupported)
  }

  @Test
  func placesOutsideTheFileAreNotRead() throws {
    typealias Directory = RawFiles.Directory
    for (start, length) in [(1 << 31, 100), (0xFFFF_FFFF, 0xFFFF_FFFF), (4, 0xFFFF_FFFF), (0, 0)] {
      let file = RawFiles.tiff(
        .text("MM") + [0, 42, 0, 0, 0, 0],
        [
          Directory([(0x0106, .short(32803))], next: 1),
          Directory([(0x0201, .longs([start])), (0x0202, .longs([length]))]),
        ],
        [:],
      )
      let error = failure { try DecoderRegistry.standard.info(of: file) }
      #expect(error?.code == .truncated || error?.code == .unsupported)
    }
  }

  @Test
  func changedBytesGiveAPictureOrAnError() throws {
    var random = SplitMix64(seed: 5252)
    var limits = DecodeLimits()
    limits.heldPixelCount = 1_000_000
    let all = try Self.files() + [("RAF", RawFiles.raf(Self.jpeg(400, 300, 200)))]
    for (name, file) in all {
      for _ in 0..<300 {
        var other = file
        // The structure is at the start, and in CR3 and ORF between pictures.
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let most = Bool.random(using: &random) ? min(600, other.count) : other.count
          other[Int.random(in: 0..<most, using: &random)] =
            [0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &random)]
            .randomElement(using: &random) ?? 0
        }
        if Bool.random(using: &random) { other = Data(other.prefix(Int.random(in: 0...other.count, using: &random))) }
        do throws(ImageError) {
          let info = try DecoderRegistry.standard.info(of: other, limits: limits)
          _ = try DecoderRegistry.standard.metadata(of: other, limits: limits)
          if info.format == .raw, info.width * info.height <= 1_000_000 { _ = try decode(other) }
        } catch {
          #expect(!error.detail.isEmpty, "\(name)")
        }
      }
    }
  }
}
