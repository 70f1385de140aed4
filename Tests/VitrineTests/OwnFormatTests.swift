import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A format that Vitrine does not know, from a decoder that is added to one pipeline.
@Suite(.patient)
struct OwnFormatTests {
  private static let url = "https://example.org/a.strip"
  private let parts = PipelineParts()
  private let decoder = StripDecoder()
  private let file = StripDecoder.file(width: 200, height: 200)

  /// A pipeline as after a start of the program.
  private func start(_ change: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    .testing(parts) {
      $0.decoders.add(decoder)
      change(&$0)
    }
  }

  private func serve() { parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"]) }

  @Test
  func aDecoderBelongsToThePipelineThatItWasAddedTo() async throws {
    serve()

    let image = try await start().image(for: ImageRequest(url: Self.url))
    let error = await #expect(throws: LoadError.self) {
      try await ImagePipeline.testing { $0.loader = parts.loader }.image(for: ImageRequest(url: Self.url))
    }

    #expect((image.width, image.height) == (200, 200))
    #expect(error?.code == .undecodable)
    #expect(!DecoderRegistry.standard.formats.contains(StripDecoder.format))
  }

  @Test
  func itIsDecodedAtTheSizeOfARequest() async throws {
    serve()

    let response = try await start().imageTask(for: ImageRequest(url: Self.url, size: .pixels(50, 50))).response

    #expect((response.image.width, response.image.height) == (50, 50))
    #expect(response.info.format == StripDecoder.format)
    #expect((response.info.width, response.info.height) == (200, 200))
    // Darker from row to row.
    #expect(response.image[25, 0].x > response.image[25, 25].x)
    #expect(response.image[25, 25].x > response.image[25, 49].x)
  }

  @Test
  func serversAreToldThatItCanBeRead() async throws {
    let task = start().imageTask(for: ImageRequest(url: Self.url))
    let load = try await parts.loader.nextLoad(of: Self.url)
    task.cancel()

    #expect(load.request.headers["Accept"]?.hasPrefix("image/x-strip, ") == true)
  }

  @Test
  func theOriginalIsDecodedAfterARestart() async throws {
    serve()
    let request = ImageRequest(url: Self.url)
    let first = start { $0.storagePolicy = .original }
    _ = try await first.image(for: request)
    await first.cache.flush()

    let again = try await start { $0.storagePolicy = .original }.imageTask(for: request).response

    #expect(again.origin == .disk)
    #expect(again.info.format == StripDecoder.format)
    #expect((parts.loader.counts.loads, decoder.opened) == (1, 2))
  }

  @Test(arguments: [40.0, 190])
  func aFinishedImageNeedsNoDecoderAfterARestart(side: Double) async throws {
    serve()
    let request = ImageRequest(url: Self.url, size: .pixels(side, side))
    let first = start { $0.storagePolicy = .finished }
    let shown = try await first.image(for: request)
    await first.cache.flush()

    let again = try await ImagePipeline.testing(parts) { $0.storagePolicy = .finished }.imageTask(for: request).response

    #expect(again.origin == .disk)
    #expect(again.info.format == StripDecoder.format)
    #expect(again.info.format.mediaType == "image/x-strip")
    #expect(again.image.psnr(against: shown) == .infinity)
    #expect((parts.loader.counts.loads, decoder.opened) == (1, 1))
  }

  @Test
  func itsBytesAreTakenForAnImage() async throws {
    serve()
    let pipeline = start()

    let data = try await pipeline.data(for: ImageRequest(url: Self.url))
    await pipeline.cache.flush()

    #expect(data == file)
    #expect(try await start().imageTask(for: ImageRequest(url: Self.url)).response.origin == .disk)
  }

  @Test
  func itsRowsAreSeenAsTheyArrive() async throws {
    var request = ImageRequest(url: Self.url)
    request.previews.showsRows = true
    let task = start().imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(file.count / 2))

    guard case .preview(let preview) = try await next(&events) else {
      Issue.record("no preview")
      return
    }
    load.send(file.dropFirst(file.count / 2))
    load.finish()

    #expect((preview.bitmap.width, preview.bitmap.height) == (200, 200))
    #expect(preview.info.format == StripDecoder.format)
    #expect(preview.bitmap[100, 50].w == 255)
    #expect(preview.bitmap[100, 150].w == 0)
    #expect(try await task.image[100, 150].w == 255)
  }

  @Test
  func withoutRowsItArrivesWithoutPreviews() async throws {
    let task = start().imageTask(for: ImageRequest(url: Self.url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    for start in stride(from: 0, to: file.count, by: 999) { load.send(file[start..<min(start + 999, file.count)]) }
    load.finish()

    guard case .finished(let result) = try await next(&events) else {
      Issue.record("a preview")
      return
    }
    #expect(try result.get().image.width == 200)
    #expect(decoder.opened == 1)
  }

  private func next(_ events: inout AsyncStream<ImageEvent>.Iterator) async throws -> ImageEvent {
    while let event = await events.next(isolation: #isolation) {
      if case .progress = event { continue }
      return event
    }
    throw CancellationError()
  }
}

/// Reads files of the word STRIP, a width and a height of two bytes each, and a level of gray for each pixel.
private struct StripDecoder: ImageDecoder {
  static let format = ImageFormat(name: "strip", mediaType: "image/x-strip", fileExtension: "strip")

  let formats = [format]
  private let opens = Counter()

  var opened: Int { opens.count }

  static func file(width: Int, height: Int) -> Data {
    var file = Data("STRIP".utf8)
    for side in [width, height] { file.append(contentsOf: [UInt8(side >> 8), UInt8(side & 255)]) }
    for y in 0..<height { file.append(contentsOf: repeatElement(UInt8(255 - y * 255 / height), count: width)) }
    return file
  }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
    unsafe bytes.starts(with: "STRIP".utf8) ? Self.format : nil
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    guard bytes.count >= 9 else { throw ImageError(.truncated, format: format, "no header") }
    // Nine bytes are there.
    let sides = unsafe bytes[5..<9].map { Int($0) }
    var info = ImageInfo(format: format, storedWidth: sides[0] << 8 | sides[1], storedHeight: sides[2] << 8 | sides[3])
    info.streamsRows = true
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    opens.increase()
    // Copied within the call.
    return unsafe Rows(bytes: [UInt8](bytes), info: request.info)
  }

  private final class Rows: RowSource {
    let width: Int
    let height: Int
    let hasAlpha = false
    private let bytes: [UInt8]
    private var row = 0

    init(bytes: [UInt8], info: ImageInfo) {
      (self.bytes, width, height) = (bytes, info.storedWidth, info.storedHeight)
    }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      let start = 9 + row * width
      guard row < height, bytes.count >= start + width else { return 0 }
      row += 1
      for x in 0..<width {
        let level = bytes[start + x]
        // The caller gives room for a row of `width` pixels.
        unsafe rows.storeBytes(of: SIMD4(level, level, level, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
      }
      return 1
    }
  }
}
