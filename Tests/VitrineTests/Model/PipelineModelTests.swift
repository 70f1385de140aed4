import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport

/// Random histories of everything that can happen to a pipeline, each step taken by hand, against a model of what must
/// hold.
@Suite(.patient)
struct PipelineModelTests {
  private static let steps = 250
  private static let ruins = Lock<[World]>([])

  private static func play(_ seed: UInt64, isTraced: Bool) -> RandomHistories.Outcome {
    var outcome = RandomHistories.Outcome()
    weak var pipeline: ImagePipeline?
    do {
      let world = World(seed: seed, isTraced: isTraced)
      pipeline = world.pipeline
      var number = 0
      while number < steps, world.violations.isEmpty {
        world.act()
        number += 1
      }
      if world.violations.isEmpty { world.drain() }
      // What is still under way in a world that went wrong would call on it.
      if !world.violations.isEmpty { ruins.withLock { $0.append(world) } }
      (outcome.violations, outcome.log) = (world.violations, world.log)
      (outcome.loads, outcome.cases) = (world.loader.count, world.exactPriorities)
    }
    if outcome.violations.isEmpty, pipeline != nil { outcome.violations.append("something keeps the pipeline") }
    return outcome
  }

  @Test
  func whateverHappensEveryCallerGetsWhatItAskedForOnce() async throws {
    let counts = try await RandomHistories.play("model") { Self.play($0, isTraced: $1) }
    guard let counts else { return }
    // It says something only where something happened.
    #expect(counts.loads > RandomHistories.rounds)
    #expect(RandomHistories.rounds < 20 || counts.cases > 0)
  }
}
