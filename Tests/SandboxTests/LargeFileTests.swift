import Foundation
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport

/// Large files, of which a worker reads what it needs.
struct LargeFileTests {
  private let folder: TemporaryFolder
  private let path: ByteString
  private let decoders: DecoderRegistry

  init() throws {
    folder = try TemporaryFolder()
    path = ByteString(folder.file("scan.tiff").path)
    try LargeScan.write(to: path.readable)
    decoders = try Sandbox.built().decoders
  }

  private func options(memory: Int) -> DecodeOptions {
    var options = DecodeOptions(size: .pixels(200))
    options.limits.memoryByteCount = memory
    return options
  }

  @Test
  func theAnswersAreThoseAboutItsBytes() throws {
    let file = try #require(LargeFile(path))
    let data = try file.contents()
    let info = try #require(try decoders.answer(DecodeQuestion(.info, DecodeLimits()), about: file)?.info)
    let known: ImageInfo = try decoders.info(of: data)
    let options = options(memory: 100 << 20)

    #expect(info == known)
    #expect(info.width == LargeScan.width && info.height == LargeScan.height)
    let there = Outcome.of { () throws(ImageError) in
      try decoders.answer(DecodeQuestion(.image, options), about: file)?.image ?? nil
    }
    #expect(there.size == [200, 100])
    #expect(Set(there.pixels).count > 3)
    #expect(there == Outcome.of { () throws(ImageError) in try decoders.decode(data, options) })
  }

  @Test
  func itsBytesAreNotHeld() throws {
    let file = try #require(LargeFile(path))
    let options = options(memory: 20 << 20)

    #expect(try decoders.answer(DecodeQuestion(.image, options), about: file)?.image != nil)
    let error = #expect(throws: ImageError.self) { try decoders.decode(file.contents(), options) }
    #expect(error?.limit == .memoryByteCount)
  }

  @Test
  func workersForgetTheFileBetweenQuestions() throws {
    let file = try #require(LargeFile(path))
    let picture = try Fixture.data("grey.tiff")
    for _ in 0..<3 {
      let about = try decoders.answer(DecodeQuestion(.info, DecodeLimits()), about: file)?.info
      #expect(about?.width == LargeScan.width)
      #expect(try decoders.info(of: picture).width < LargeScan.width)
    }
  }

  @Test
  func aFileThatHasBecomeShorterIsAnError() throws {
    let file = try #require(LargeFile(path))
    try FileHandle(forWritingTo: URL(filePath: path.readable)).truncate(atOffset: 100_000)

    let error = #expect(throws: ImageError.self) {
      try decoders.answer(DecodeQuestion(.image, options(memory: 100 << 20)), about: file)
    }
    #expect(error?.code == .decoderFailed)
    #expect(try decoders.info(of: Fixture.data("grey.tiff")).format == .tiff)
  }

  @Test
  func whatIsSmallOrNoFileIsNotLarge() throws {
    #expect(LargeFile(ByteString(folder.path)) == nil)
    #expect(LargeFile(ByteString(folder.file("none").path)) == nil)
    try folder.write(Data(count: LargeFile.leastByteCount - 1), to: "small")
    #expect(LargeFile(ByteString(folder.file("small").path)) == nil)
  }

  @Test
  func whatIsDecodedInThisProcessIsRead() throws {
    let file = try #require(LargeFile(path))
    #expect(try ownDecoders.answer(DecodeQuestion(.info, DecodeLimits()), about: file) == nil)
  }
}
