import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What tasks, prefetchers and broken downloads must not leave behind, and what they may cost.
@Suite(.patient)
struct LeftoverTests {
  private struct Passing: ImageInterceptor {
    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      try await next(request)
    }
  }

  @Test
  func cancelledWhileItsInterceptedJobIsMadeATaskLeavesNothing() async throws {
    await #expect(processExitsWith: .success) {
      await Cell.play {
        weak var freed: ImagePipeline?
        do {
          let trigger = Trigger()
          let pipeline = ImagePipeline.testing {
            $0.interceptors = [Passing()]
            $0.clock = HookedClock(inner: ManualClock(), call: .now, trigger: trigger)
          }
          freed = pipeline
          let scope = LoadScope(pipeline)
          scope.pause()
          let task = scope.imageTask(for: Scene.request("one"))
          // The time is asked for when the load is about to begin.
          trigger.arm { task.cancel() }
          scope.resume()
          let error = await #expect(throws: LoadError.self) { try await task.image }
          #expect(error?.isCancellation == true)
          #expect(pipeline.loadCount == 0)
        }
        // Whoever is about to let go of it does so.
        try await until { freed == nil }
      }
    }
  }

  @Test(arguments: [true, false])
  func aReleasedPrefetcherTellsEachThatItIsCancelled(isInMemory: Bool) async {
    await #expect(processExitsWith: .success) { [isInMemory = isInMemory as Bool] in
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(
          pipeline,
          destination: isInMemory ? .memory : .disk,
          maxConcurrentLoads: 1,
        )
        let results = Watched<[Bool]>([])
        prefetcher?.start(["a", "b", "c"].map(Scene.request)) { _, result in
          let isCancelled = if case .failure(let error) = result { error.isCancellation } else { false }
          results.change { $0.append(isCancelled) }
        }
        _ = try await parts.loader.nextLoad(of: Scene.url("a"))
        prefetcher = nil
        await results.wait { $0.count >= 3 }
        #expect(results.value == [true, true, true])
        #expect(pipeline.loadCount == 0)
      }
    }
  }

  @Test(arguments: [false, true])
  func whatIsRemovedIsNotGoneOnWith(isRemoved: Bool) async throws {
    let (parts, folder) = (PipelineParts(), try TemporaryFolder())
    let disk = try folder.cache(parts.clock)
    let pipeline = ImagePipeline.testing(parts) { $0.diskCache = disk }
    let url = Scene.url("broken")
    let request = ImageRequest(url: url)
    var body = try Scene.file()
    body.append(Data(repeating: 7, count: 1_000_000 - body.count))
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: ["ETag": "\"1\"", "Content-Length": "\(body.count)", "Cache-Control": "max-age=60"])
    for start in stride(from: 0, to: 500_000, by: 100_000) { load.send(body[start..<(start + 100_000)]) }
    load.fail(.connectionLost)
    await #expect(throws: LoadError.self) { try await task.image }
    await pipeline.cache.flush()

    if isRemoved { await pipeline.cache.remove(request) }

    let again = pipeline.imageTask(for: request)
    let next = try await parts.loader.nextLoad(of: url)
    #expect(next.request.headers["Range"] == (isRemoved ? nil : "bytes=500000-"))
    again.cancel()
    await next.wait { $0.isEnded }
    await pipeline.cache.flush()
    await disk.close()
  }

  @Test(arguments: [true, false])
  func whatIsNowhereIsMissedOnce(isProcessed: Bool) async throws {
    let parts = PipelineParts()
    let memory = MemoryCache<CachedImage>(costLimit: 1 << 20, clock: parts.clock)
    let pipeline = ImagePipeline.testing(parts) { $0.memoryCache = memory }
    parts.loader.answer("*", with: try Scene.file())
    var request = Scene.request("nowhere")
    if isProcessed { request.processors = [.custom(id: "same") { $0 }] }
    _ = try await pipeline.image(for: request)
    #expect(memory.statistics.misses == 1)
  }
}
