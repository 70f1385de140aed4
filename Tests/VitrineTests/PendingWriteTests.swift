import Testing
import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What is asked of the caches while something is still being written, each step taken by hand.
@Suite(.patient)
struct PendingWriteTests {
  enum Question: CaseIterable { case remove, removeAll, contains, image }

  @Test(arguments: Question.allCases)
  func whoAsksWhileAnImageIsBeingWrittenFindsItWritten(question: Question) async throws {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: "steps", width: 1)
    let (isThere, wasFound) = try await queue.run { _ in try Self.play(question) }
    let isKept = question == .contains || question == .image
    #expect(isThere == isKept)
    #expect(wasFound == isKept)
  }

  /// Returns whether the image is on disk in the end, and whether that is what was said.
  private static func play(_ question: Question) throws -> (isThere: Bool, wasFound: Bool) {
    let (executor, loader, disk) = (StepExecutor(), StepLoader(), StepDisk())
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryPressure = nil
      $0.memoryCache = nil
      $0.diskCache = disk
      $0.loader = loader
      $0.stepper = executor
    }
    let request = ImageRequest(url: "https://example.org/0")
    let task = pipeline.imageTask(for: request)
    while executor.count > 0 { executor.run(0) }
    let load = try #require(loader.running.first)
    load.respond(200, ["Cache-Control": "max-age=60"])
    load.send(Pictures.file(0, 1))
    load.end()
    while pipeline.context.decodeQueue.runNext() {}
    // The image is there, and its bytes are about to be written.
    try #require(task.isEnded && executor.count == 1 && disk.entries.isEmpty)

    let wasFound = Box(false)
    if question == .image {
      pipeline.loadImage(for: request) { wasFound.value = (try? $0.get())?.origin == .disk }
    } else {
      Task(executorPreference: executor) {
        switch question {
        case .remove: await pipeline.cache.remove(request)
        case .removeAll: await pipeline.cache.removeAll()
        case .contains, .image: wasFound.value = await pipeline.cache.contains(request, in: .disk)
        }
      }
    }
    // Who asks comes first.
    while executor.count > 0 { executor.run(executor.count - 1) }
    while pipeline.context.decodeQueue.runNext() {}
    // What is removed before it is written is not written at all.
    try #require(disk.count(.write) == (question == .contains || question == .image ? 1 : 0))
    return (!disk.entries.isEmpty, wasFound.value)
  }

  @Test
  func whatIsAboutOneKeyIsWrittenInTheOrderInWhichItCame() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let order = try await queue.run { _ in
      let (executor, order) = (StepExecutor(), Box<[String]>([]))
      let writes = PendingWrites(executor)
      for number in 1...3 {
        for name in ["a", "b"] {
          writes.add(for: CacheKey { $0.append(name) }) {
            // Others may run in between.
            await Task.yield()
            order.value.append("\(name)\(number)")
          }
        }
      }
      Task(executorPreference: executor) {
        await writes.finished()
        order.value.append("all")
      }
      // Whatever came last goes first.
      while executor.count > 0 { executor.run(executor.count - 1) }
      return order.value
    }
    #expect(order.filter { $0.hasPrefix("a") && $0 != "all" } == ["a1", "a2", "a3"])
    #expect(order.filter { $0.hasPrefix("b") } == ["b1", "b2", "b3"])
    #expect(order.count == 7)
    #expect(order.last == "all")
  }

  @Test
  func whatIsAddedAfterTheFirstOfTwoHasEndedWaitsForTheSecond() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let order = try await queue.run { _ in
      let (executor, order) = (StepExecutor(), Box<[Int]>([]))
      let (writes, key) = (PendingWrites(executor), CacheKey { $0.append("a") })
      for number in 1...2 { writes.add(for: key) { order.value.append(number) } }
      while order.value.isEmpty { executor.run(0) }
      try #require(order.value == [1] && writes.isBusy(for: key))
      writes.add(for: key) { order.value.append(3) }
      // Whatever came last goes first.
      while executor.count > 0 { executor.run(executor.count - 1) }
      try #require(!writes.isBusy(for: key))
      return order.value
    }
    #expect(order == [1, 2, 3])
  }
}
