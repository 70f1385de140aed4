import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a program does first in a callback, spelled out; each in a process of its own, which ends if it hangs.
@Suite(.patient)
struct HangTests {
  @Test
  func aCompletionMayBeginALoad() async {
    await #expect(processExitsWith: .success) {
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        parts.loader.answer("*", with: try Scene.file())
        let ends = Watched(0)
        pipeline.loadImage(for: Scene.request("first")) { _ in
          pipeline.loadImage(for: Scene.request("second")) { _ in ends.change { $0 += 1 } }
        }
        await ends.wait { $0 == 1 }
        #expect(pipeline.loadCount == 0)
      }
    }
  }

  @Test
  func aCompletionMayCancelAnotherTask() async {
    await #expect(processExitsWith: .success) {
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        parts.loader.answer(Scene.url("first"), with: try Scene.file())
        let other = pipeline.imageTask(for: Scene.request("other"))
        let load = try await parts.loader.nextLoad(of: Scene.url("other"))
        pipeline.loadImage(for: Scene.request("first")) { _ in other.cancel() }
        let error = await #expect(throws: LoadError.self) { try await other.image }
        #expect(error?.isCancellation == true)
        await load.wait { $0.isCancelled }
      }
    }
  }

  @Test(arguments: [true, false])
  func aPrefetchersResultMayBeginALoad(isInMemory: Bool) async {
    await #expect(processExitsWith: .success) { [isInMemory = isInMemory as Bool] in
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        parts.loader.answer("*", with: try Scene.file())
        let ends = Watched(0)
        let prefetcher = ImagePrefetcher(pipeline, destination: isInMemory ? .memory : .disk)
        prefetcher.start([Scene.request("first")]) { _, _ in
          pipeline.loadImage(for: Scene.request("second")) { _ in ends.change { $0 += 1 } }
        }
        await ends.wait { $0 == 1 }
        withExtendedLifetime(prefetcher) {}
      }
    }
  }

  /// Cancels a task when it goes.
  private final class Canceller: Sendable {
    let task: ImageTask

    init(_ task: ImageTask) { self.task = task }

    func use() {}

    deinit { task.cancel() }
  }

  private static func load(_ request: ImageRequest, with pipeline: ImagePipeline, cancelling other: ImageTask) {
    let canceller = Canceller(other)
    pipeline.loadImage(for: request) { _ in canceller.use() }
  }

  @Test
  func aCompletionMayHoldTheLastReferenceToWhatCancels() async throws {
    await #expect(processExitsWith: .success) {
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        let other = pipeline.imageTask(for: Scene.request("other"))
        Self.load(Scene.request("first"), with: pipeline, cancelling: other)
        let load = try await parts.loader.nextLoad(of: Scene.url("first"))
        load.respond(with: FakeResponse(body: try Scene.file()))
        let error = await #expect(throws: LoadError.self) { try await other.image }
        #expect(error?.isCancellation == true)
        // Whoever waits is told before the pipeline is.
        try await until { pipeline.loadCount == 0 }
      }
    }
  }

  @Test
  func aClosureSourceMayLoadThroughItsPipelineAndBeCancelledMeanwhile() async throws {
    await #expect(processExitsWith: .success) {
      await Cell.play {
        let parts = PipelineParts()
        let pipeline = ImagePipeline.testing(parts)
        let source = ImageSource.closure(id: "through the pipeline") { [weak pipeline] in
          try await pipeline?.data(for: Scene.request("inner")) ?? Data()
        }
        let task = pipeline.imageTask(for: ImageRequest(source))
        let load = try await parts.loader.nextLoad(of: Scene.url("inner"))
        task.cancel()
        let error = await #expect(throws: LoadError.self) { try await task.image }
        #expect(error?.isCancellation == true)
        await load.wait { $0.isCancelled }
        try await until { pipeline.loadCount == 0 }
      }
    }
  }
}
