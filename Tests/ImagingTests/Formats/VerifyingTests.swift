import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// Bytes that are only copied are checked by their header and their end.
struct VerifyingTests {
  private let registry = DecoderRegistry.standard

  private func verify(_ data: Data, mayDecode: Bool = true) throws(ImageError) {
    var options = DecodeOptions()
    // A decode would end at once.
    options.isCancelled = { !mayDecode }
    try registry.verify(data, options, DecodeJob())
  }

  @Test(arguments: Photograph.names)
  func aWholeFileIsNotDecoded(name: String) throws {
    let data = try Photograph.data(name)

    try verify(data, mayDecode: false)
    #expect(throws: ImageError.self, "its pixels are asked for") { try verify(data.dropLast(20), mayDecode: false) }
  }

  @Test(arguments: Photograph.names)
  func aCutFileIsDamagedAsItsDecoderSays(name: String) throws {
    let data = try Photograph.data(name).prefix(3000)

    #expect(failure { try verify(data) }?.code == failure { _ = try registry.decode(data) }?.code)
  }

  @Test
  func aFileOfAFormatWithoutAnEndIsDecoded() throws {
    let data = try Fixture.data("bits-24.bmp")

    try verify(data)
    #expect(failure { try verify(data, mayDecode: false) }?.code == .cancelled)
  }

  @Test
  func aTextIsNoImage() {
    #expect(failure { try verify(Data("<p>Not found</p>".utf8)) }?.code == .unrecognised)
  }
}
