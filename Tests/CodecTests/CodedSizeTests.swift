import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// Files whose boxes say another size than the codec's own header.
struct CodedSizeTests {
  /// Replaces the size in every property that says one.
  private static func lie(_ name: String, _ width: UInt32, _ height: UInt32) throws -> Data {
    var file = try Fixture.data(name)
    var found = 0
    for offset in 0..<file.count - 16 where file[offset..<offset + 4].elementsEqual("ispe".utf8) {
      for byte in 0..<4 {
        file[offset + 8 + byte] = UInt8(truncatingIfNeeded: width >> UInt32(24 - 8 * byte))
        file[offset + 12 + byte] = UInt8(truncatingIfNeeded: height >> UInt32(24 - 8 * byte))
      }
      found += 1
    }
    try #require(found > 0)
    return file
  }

  /// A coded picture, and grids of one tile.
  static let files = ["thumbnail.heic", "lossy.heic", "10-bit.heic", "grey.heic", "alpha.heic", "orientation-6.heic"]

  @Test(arguments: files)
  func aSizeThatThePictureDoesNotHaveIsNotRepeated(name: String) throws {
    let file = try Self.lie(name, 640, 480)

    let error = failure { try registry.info(of: file) }
    #expect(error?.code == .corrupt)
    #expect(error?.detail.contains("the picture has fewer") == true)
    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func everyTrueSizeIsBelieved() throws {
    for name in Fixture.names(".heic") { #expect(throws: Never.self) { try registry.info(of: Fixture.data(name)) } }
    for path in Corpus.files(ending: ".heic") {
      #expect(throws: Never.self) { try registry.info(of: Corpus.data(path)) }
    }
  }

  @Test
  func spoiledParameterSetsDoNoHarm() throws {
    var file = try Fixture.data("lossy.heic")
    let start = try #require(file.indices.first { file[$0...].starts(with: "hvcC".utf8) })
    for offset in start..<min(start + 120, file.count) {
      let byte = file[offset]
      for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
        file[offset] = value
        _ = try? registry.info(of: file)
      }
      file[offset] = byte
    }
  }
}
