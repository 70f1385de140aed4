import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

@testable import Vitrine

/// Tiles that are cancelled, become more urgent, get stuck or are evicted.
@Suite(.patient)
struct TileLifeTests {
  /// A drawing of one colour, whose tiles wait until the test lets them go on.
  private struct HeldDrawing: VitrineDecoder {
    enum Event: Hashable { case began(x: Int), finished(x: Int), cancelled(x: Int) }

    let events = Watched<[Event]>([])
    /// The left edges of tiles that may go on; `nil` for all.
    let allowed = Lock<Set<Int>?>([])
    let ignoresCancellation: Bool

    var formats: [ImageFormat] { [.svg] }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      var info = ImageInfo(format: .svg, storedWidth: 4096, storedHeight: 512)
      info.isVector = true
      return info
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      let part = request.drawnPart ?? PixelRegion(x: 0, y: 0, width: 4096, height: 512)
      events.change { $0.append(.began(x: part.x)) }
      // As decoders do that are at work: they look now and then whether they are still needed. One that was not
      // needed any more when it was let go does not go on.
      var isAllowed = false
      while !isAllowed {
        isAllowed = allowed.withLock { $0?.contains(part.x) ?? true }
        if !ignoresCancellation {
          do throws(ImageError) {
            try request.control.check()
          } catch {
            events.change { $0.append(.cancelled(x: part.x)) }
            throw error
          }
        }
        sched_yield()
      }
      events.change { $0.append(.finished(x: part.x)) }
      return HeldRows(width: part.width, height: part.height, hasAlpha: false) { (pixels, _) in
        pixels.update(repeating: 255)
      }
    }

    func goOn() { allowed.withLock { $0 = nil } }
  }

  private static let file = Data(#"<svg xmlns="http://www.w3.org/2000/svg"></svg>"#.utf8)
  /// Longer than any decode takes: decoders measure it with the clock of the machine.
  private static let limit = Duration.seconds(300)

  private let parts = PipelineParts()

  private func open(_ decoder: HeldDrawing) async throws -> TiledImage {
    let pipeline = ImagePipeline.testing(parts) {
      $0.decoders.add(decoder)
      $0.maxConcurrentDecodes = 1
      $0.decodeLimits.timeLimit = Self.limit
    }
    return try await pipeline.tiledImage(for: ImageRequest(.data(Self.file, id: "drawing")))
  }

  private static func tile(_ column: Int) -> TiledImage.Tile { TiledImage.Tile(level: 0, column: column, row: 0) }

  @Test
  func theLastWhoLeavesStopsTheDecode() async throws {
    let decoder = HeldDrawing(ignoresCancellation: false)
    let image = try await open(decoder)
    let first = Task { try await image.tile(Self.tile(1)) }
    await decoder.events.wait { $0.contains(.began(x: 512)) }
    let second = Task { try await image.tile(Self.tile(1)) }
    first.cancel()
    let error = await #expect(throws: LoadError.self) { try await first.value }
    #expect(error?.isCancellation == true)
    second.cancel()
    await #expect(throws: LoadError.self) { try await second.value }
    await decoder.events.wait { $0.contains(.cancelled(x: 512)) }

    // Another one is decoded anew.
    decoder.goOn()
    #expect(try await image.tile(Self.tile(1)).width == 512)
  }

  @Test
  func oneWhoStaysGetsTheTileOnceDecoded() async throws {
    let decoder = HeldDrawing(ignoresCancellation: false)
    let image = try await open(decoder)
    let tasks = (0..<20).map { _ in Task { try await image.tile(Self.tile(2)) } }
    await decoder.events.wait { $0.contains(.began(x: 1024)) }
    for task in tasks.dropLast() { task.cancel() }
    for task in tasks.dropLast() { _ = await task.result }
    decoder.goOn()
    let tile = try await tasks[19].value

    #expect(tile[0, 0] == SIMD4(repeating: 255))
    // The last one may have come behind the others, and found theirs gone.
    #expect(decoder.events.value.filter { $0 == .finished(x: 1024) }.count == 1)
  }

  @Test
  func whoWaitsForAStuckDecodeGetsAnError() async throws {
    let decoder = HeldDrawing(ignoresCancellation: true)
    let image = try await open(decoder)
    let task = Task { try await image.tile(Self.tile(0)) }
    await decoder.events.wait { $0.contains(.began(x: 0)) }
    parts.clock.advance(by: Self.limit + .seconds(5))
    let error = await #expect(throws: LoadError.self) { try await task.value }

    #expect((error?.cause as? ImageError)?.code == .outOfTime)
    decoder.goOn()
  }

  /// A tile that was evicted is made by another pass, which stores nothing else anew.
  @Test
  func evictedTilesAreMadeAnew() async throws {
    let data = try Photograph.data("white-lighthouse-adam7.png")
    let pipeline = ImagePipeline.testing(parts)
    let request = ImageRequest(.data(data, id: "lighthouse"))
    let image = try await pipeline.tiledImage(for: request)
    let first = try await image.tile(TiledImage.Tile(level: 0, column: 0, row: 0))
    for try await _ in image.overviews(maximum: 100) {}
    await pipeline.cache.flush()
    let writes = parts.diskCache.counts.writes
    let finished = await parts.diskCache.entries().filter { $0.kind == .finished }
    let evicted = try #require(finished.first)
    await parts.diskCache.remove(evicted.key)

    let again = try await pipeline.tiledImage(for: request)
    let (columns, rows) = again.tileCount(ofLevel: 0)
    for place in 0..<columns * rows {
      _ = try await again.tile(TiledImage.Tile(level: 0, column: place % columns, row: place / columns))
    }
    for level in again.levels.dropFirst() {
      _ = try await again.tile(TiledImage.Tile(level: level, column: 0, row: 0))
    }
    let tile = try await again.tile(TiledImage.Tile(level: 0, column: 0, row: 0))
    await pipeline.cache.flush()
    #expect(tile[5, 7] == first[5, 7])
    #expect(parts.diskCache.counts.writes == writes + 1)
  }
}
