import Foundation
import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

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
    let info = try decoders.info(of: .file(file), limits: DecodeLimits())
    let known: ImageInfo = try decoders.info(of: data)
    let options = options(memory: 100 << 20)

    #expect(info == known)
    #expect(info.width == LargeScan.width && info.height == LargeScan.height)
    let there = Outcome.of { () throws(ImageError) in
      try decoders.decode(.file(file), options, DecodeJob())
    }
    #expect(there.size == [200, 100])
    #expect(Set(there.pixels).count > 3)
    #expect(there == Outcome.of { () throws(ImageError) in try decoders.decode(data, options) })
  }

  @Test
  func itsBytesAreNotHeld() throws {
    let file = try #require(LargeFile(path))
    let options = options(memory: 20 << 20)

    #expect(try decoders.decode(.file(file), options, DecodeJob()).bitmap.width == 200)
    let error = #expect(throws: ImageError.self) { try decoders.decode(file.contents(), options) }
    #expect(error?.limit == .memoryByteCount)
  }

  /// A pipeline that may hold less than the file.
  private func pipeline(memory: Int = 20 << 20) -> ImagePipeline {
    ImagePipeline.testing {
      $0.decoders = decoders
      $0.decodeLimits.memoryByteCount = memory
    }
  }

  private var request: ImageRequest { ImageRequest(.file(path.readable), size: .pixels(200)) }

  @Test
  func aPipelineDoesNotHoldItsBytesEither() async throws {
    let pipeline = pipeline()
    let whole = try decoders.decode(FileContents.at(path), options(memory: 100 << 20))

    let image = try await pipeline.imageTask(for: request).response
    #expect(image.container.bitmap.psnr(against: whole.bitmap) == .infinity)
    #expect(image.container.info == whole.info && image.origin == .local)
    // A caller of the bytes gets them all, also while an image is made.
    async let other = pipeline.image(for: ImageRequest(.file(path.readable), size: .pixels(100)))
    #expect(try await pipeline.data(for: request) == FileContents.at(path))
    #expect(try await other.width == 100)
  }

  @Test
  func processorsNeedNoBytes() async throws {
    var tinted = request
    tinted.processors = [.circle()]
    #expect(try await pipeline().image(for: tinted).width == 100)
  }

  /// A smart crop must not depend on which request came first.
  @Test(arguments: ["10-bit.heic", "420-12-bit.avif"])
  func aFileThatCanNameItsSubjectsIsReadHere(name: String) throws {
    var bytes = try Fixture.data(name)
    bytes.append(Data(count: LargeFile.leastByteCount))
    try folder.write(bytes, to: name)
    let file = try #require(LargeFile(ByteString(folder.file(name).path)))
    #expect(!decoders.lends(file))
    let (here, known) = try (decoders.info(of: .file(file), limits: DecodeLimits()), decoders.info(of: bytes))
    #expect(here == known)
  }

  @Test
  func whatNeedsTheBytesThemselvesReadsThem() async throws {
    var kept = request
    kept.keepsEncodedData = true
    let count = try FileContents.at(path).count
    let image = try await pipeline(memory: 100 << 20).imageTask(for: kept).response
    #expect(image.container.encodedData?.count == count)
    await #expect(throws: LoadError.self) { try await pipeline().image(for: kept) }
  }

  @Test
  func tilesAreMadeWithoutHoldingItsBytes() async throws {
    let tiled = try await pipeline(memory: 70 << 20).tiledImage(for: request)
    #expect(tiled.info.width == LargeScan.width)
    let whole = try decoders.decode(FileContents.at(path), DecodeOptions(size: .pixels(512)))
    var overview: Bitmap?
    for try await picture in tiled.overviews(maximum: 512) { overview = picture }
    #expect(overview?.psnr(against: whole.bitmap) == .infinity)
    let tile = try await tiled.tile(TiledImage.Tile(level: 0, column: 3, row: 1))
    #expect(tile.width > 0)
  }

  @Test
  func aFileThatIsModifiedIsAnotherOne() async throws {
    let pipeline = pipeline()
    let first = try await pipeline.resources.bytes(for: request)
    #expect(try await pipeline.resources.bytes(for: request).contentID == first.contentID)
    try FileHandle(forWritingTo: URL(filePath: path.readable)).truncate(atOffset: UInt64(first.content.byteCount - 1))
    #expect(try await pipeline.resources.bytes(for: request).contentID != first.contentID)
  }

  @Test
  func workersForgetTheFileBetweenQuestions() throws {
    let file = try #require(LargeFile(path))
    let picture = try Fixture.data("grey.tiff")
    for _ in 0..<3 {
      #expect(try decoders.info(of: .file(file), limits: DecodeLimits()).width == LargeScan.width)
      #expect(try decoders.info(of: picture).width < LargeScan.width)
    }
  }

  @Test
  func aFileThatWasModifiedOrIsGoneIsAnError() throws {
    let file = try #require(LargeFile(path))
    try FileHandle(forWritingTo: URL(filePath: path.readable)).truncate(atOffset: UInt64(file.byteCount + 1))

    func detail() -> String? {
      failure { try decoders.decode(.file(file), options(memory: 100 << 20), DecodeJob()) }?.detail
    }
    #expect(detail() == "the file was modified while it was in use")
    // It is not taken for a file that ends its decoder.
    let again = try #require(LargeFile(path))
    #expect(try decoders.decode(.file(again), options(memory: 100 << 20), DecodeJob()).bitmap.width == 200)
    try FileManager.default.removeItem(atPath: path.readable)
    #expect(detail() == "No such file or directory")
    #expect(try decoders.info(of: Fixture.data("grey.tiff")).format == .tiff)
  }

  /// The disk that it is on can be taken out.
  @Test
  func aFileIsNotKeptOpen() throws {
    let file = try #require(LargeFile(path))
    _ = try decoders.decode(.file(file), options(memory: 100 << 20), DecodeJob())
    let name = URL(filePath: path.readable).resolvingSymlinksInPath().path
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == name
    }
    #expect(open.isEmpty && file.byteCount > 0)
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
    #expect(!ownDecoders.lends(file) && decoders.lends(file))
    let (about, of) = try (
      ownDecoders.info(of: .file(file), limits: DecodeLimits()), ownDecoders.info(of: file.contents()),
    )
    #expect(about == of)
    let error = #expect(throws: ImageError.self) {
      try ownDecoders.decode(.file(file), options(memory: 1 << 20), DecodeJob())
    }
    #expect(error?.code == .overLimit && error?.detail.contains("over the limit of 1 MB") == true)
  }
}
