import Testing
import VitrineTestSupport

@testable import VitrineImaging

/// The table of formats agrees with the decoders and encoders, and with itself.
struct FormatTableTests {
  @Test
  func aNameAnExtensionAndATypeMeanOneFormat() {
    let all = ImageFormat.all
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(all.map(\.row.title)).count == all.count)
    let types = all.flatMap(\.mediaTypes)
    #expect(Set(types).count == types.count)
    #expect(types.allSatisfy { $0.hasPrefix("image/") && $0 == $0.lowercased() })
    for format in all {
      for name in format.fileExtensions where name != "png" || format == .png {
        #expect(ImageFormat(fileExtension: name) == format, "\(name)")
        #expect(ImageFormat(fileExtension: name.uppercased()) == format, "\(name)")
      }
      #expect(format.fileExtension == format.fileExtensions.first && format.mediaType == format.mediaTypes.first)
    }
  }

  @Test(
    arguments: [
      ("svgz", .svg), ("jfif", .jpeg), ("jpe", .jpeg), ("heif", .heic), ("hif", .heic), ("avifs", .avif),
      ("apng", .apng),
      ("cur", .ico), ("tif", .tiff), ("PNG", .png),
    ] as [(String, ImageFormat)]
  )
  func extensionsThatFilesHaveAreKnown(name: String, format: ImageFormat) {
    #expect(ImageFormat(fileExtension: name) == format)
  }

  @Test(arguments: ["", "txt", "jp", "jpgx", "image/jpeg", "."])
  func otherExtensionsAreOfNoFormat(name: String) {
    #expect(ImageFormat(fileExtension: name) == nil)
  }

  @Test
  func decodersAndEncodersAreThoseOfTheRows() {
    let (decoded, encoded) = (ImageFormat.all.filter(\.row.isRead), ImageFormat.all.filter(\.row.isWritten))
    let own = decoded.filter { $0.row.codec == nil }
    #expect(ImageFormat.builtIn.flatMap(\.decoder.formats) == own)
    let encoders = ImageFormat.builtIn.compactMap(\.encoder)
    #expect(encoders.map(\.format) == encoded.filter { $0.row.codec == nil })
    for encoder in encoders {
      let row = encoder.format.row
      // ImageIO writes no animation, and GIF has pixels that are there or not.
      if !Shape.isApple { #expect(encoder.features.contains(.animation) == (row.motion != .never), "\(row.name)") }
      #expect(encoder.features.contains(.alpha) == (row.hasAlpha && encoder.format != .gif), "\(row.name)")
    }
  }

  @Test
  func aFormatOfAProgramsOwnIsNotInTheTable() {
    let own = ImageFormat(name: "strip", mediaType: "image/x-strip", fileExtension: "strip")

    #expect(own.mediaTypes == ["image/x-strip"] && own.fileExtensions == ["strip"])
    #expect(ImageFormat(fileExtension: "strip") == nil)
    #expect(!own.row.isRead && !own.row.isWritten && own.row.threads == 1)
  }

  @Test
  func aFormatWithANameOfVitrinesHasItsRow() {
    let stored = ImageFormat(name: "avif", mediaType: "image/avif", fileExtension: "avif")
    let own = ImageFormat(name: "avif", mediaType: "image/x-own", fileExtension: "own")

    #expect(stored.fileExtensions == ImageFormat.avif.fileExtensions)
    #expect(own.mediaType == "image/x-own" && own.fileExtension == "own")
    #expect(own.row.codec == "AVIF")
  }
}
