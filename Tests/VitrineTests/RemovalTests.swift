import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Sources that are removed from the caches while they are being loaded.
@Suite(.patient)
struct RemovalTests {
  enum Want: CaseIterable { case image, smallImage, data, encoded }

  private static let url = "https://example.org/0"

  private static func load(_ want: Want, _ pipeline: ImagePipeline) async throws -> Pictures.Name? {
    let request = ImageRequest(url: url, size: want == .smallImage ? .pixels(4, 4) : nil)
    switch want {
    case .image: return Pictures.name(of: try await pipeline.image(for: request))
    // Too small to tell which.
    case .smallImage: _ = try await pipeline.image(for: request)
    case .data: _ = try await pipeline.data(for: request)
    case .encoded: _ = try await pipeline.encoded(for: request, as: .png())
    }
    return nil
  }

  @Test(arguments: Want.allCases, [false, true])
  func aRunningLoadIsNotStoredAndNotJoined(want: Want, removesAll: Bool) async throws {
    let (loader, folder) = (FakeLoader(), try TemporaryFolder())
    let cache = try folder.cache()
    let pipeline = ImagePipeline(.ephemeral) {
      ($0.loader, $0.diskCache, $0.memoryPressure, $0.storagePolicy) = (loader, cache, nil, .both)
    }
    func answer(_ load: FakeLoad, _ version: Int) {
      load.respond(headers: ["Cache-Control": "max-age=600", "ETag": "\"\(version)\""])
      load.send(Pictures.file(0, version))
      load.finish()
    }

    let early = Task { try await Self.load(want, pipeline) }
    let first = try await loader.nextLoad(of: Self.url)
    if removesAll { await pipeline.cache.removeAll() } else { await pipeline.cache.remove(ImageRequest(url: Self.url)) }
    let late = Task { try await Self.load(want, pipeline) }
    let second = try await loader.nextLoad(of: Self.url)

    answer(first, 1)
    let before = try await early.value
    await pipeline.cache.flush()
    for request in [ImageRequest(url: Self.url), ImageRequest(url: Self.url, size: .pixels(4, 4))] {
      #expect(await !pipeline.cache.contains(request))
    }
    answer(second, 2)
    let after = try await late.value
    await pipeline.cache.flush()
    #expect(await pipeline.cache.contains(ImageRequest(url: Self.url), in: .disk))
    if want == .image { #expect(before?.version == 1 && after?.version == 2) }
  }

  /// Nobody waits for what a revalidation in the background brings, and it begins a decode of its own.
  @Test(arguments: [nil, .pixels(4, 4)] as [TargetSize?])
  func whatIsRemovedDuringItsRevalidationIsNotStored(size: TargetSize?) async throws {
    let (loader, folder, clock) = (FakeLoader(), try TemporaryFolder(), ManualClock())
    let cache = try folder.cache()
    let pipeline = ImagePipeline(.ephemeral) {
      ($0.loader, $0.diskCache, $0.memoryPressure, $0.clock, $0.storagePolicy) = (loader, cache, nil, clock, .both)
    }
    let request = ImageRequest(url: Self.url, size: size)
    func answer(_ load: FakeLoad, _ version: Int) {
      load.respond(headers: ["Cache-Control": "max-age=1, stale-while-revalidate=600", "ETag": "\"\(version)\""])
      load.send(Pictures.file(0, version))
      load.finish()
    }

    let first = Task { try await pipeline.image(for: request) }
    answer(try await loader.nextLoad(of: Self.url), 1)
    _ = try await first.value
    await pipeline.cache.flush()
    clock.advance(by: .seconds(10))
    let stale = try await pipeline.imageTask(for: request).response
    #expect(stale.isStale)
    let second = try await loader.nextLoad(of: Self.url)
    await pipeline.cache.remove(request)
    answer(second, 2)
    while pipeline.loadCount > 0 { await Task.yield() }
    await pipeline.cache.flush()
    #expect(await !pipeline.cache.contains(request))
    #expect(await !pipeline.cache.contains(ImageRequest(url: Self.url)))
  }

  /// Making room in memory says nothing about what is true.
  @Test
  func aRemovalFromMemoryLeavesRunningLoadsAlone() async throws {
    let (loader, folder) = (FakeLoader(), try TemporaryFolder())
    let cache = try folder.cache()
    let pipeline = ImagePipeline(.ephemeral) { ($0.loader, $0.diskCache, $0.memoryPressure) = (loader, cache, nil) }
    let request = ImageRequest(url: Self.url)
    let early = Task { try await pipeline.image(for: request) }
    let load = try await loader.nextLoad(of: Self.url)
    await pipeline.cache.remove(request, in: .memory)
    await pipeline.cache.removeAll(in: .memory)
    let late = pipeline.imageTask(for: request)
    load.respond(headers: ["Cache-Control": "max-age=600"])
    load.send(Pictures.file(0, 1))
    load.finish()
    _ = try await (early.value, late.image)
    await pipeline.cache.flush()
    #expect(loader.counts.loads == 1)
    #expect(await pipeline.cache.contains(request, in: .disk))
  }

  /// The second version is on its way when the first is removed.
  @Test
  func whatIsMadeOfRemovedBytesIsNotStored() async throws {
    let loader = FakeLoader()
    let pipeline = ImagePipeline(.ephemeral) { ($0.loader, $0.diskCache, $0.memoryPressure) = (loader, nil, nil) }
    let request = ImageRequest(url: Self.url)
    let (arrived, gate) = (Gate(), Gate())
    var slow = request
    slow.processors = [
      .custom(id: "slow") { bitmap in
        arrived.open()
        gate.wait()
        return bitmap
      }
    ]
    let task = pipeline.imageTask(for: slow)
    let load = try await loader.nextLoad(of: Self.url)
    load.respond(headers: ["Cache-Control": "max-age=600"])
    load.send(Pictures.file(0, 1))
    load.finish()
    await arrived.value()
    await pipeline.cache.remove(request)
    gate.open()
    _ = try await task.image
    #expect(pipeline.cachedImage(for: slow) == nil && pipeline.cachedImage(for: request) == nil)
  }
}
