import Testing
import Vitrine
import VitrineRuntime

/// Random histories of everything that can happen to a pipeline, each step taken by hand, against a model of what must
/// hold.
///
/// A failure names its seed: `VITRINE_MODEL_SEED=… VITRINE_MODEL_ROUNDS=1` plays that history again and prints it.
@Suite(.timeLimit(.minutes(20)))
struct PipelineModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["VITRINE_MODEL_SEED"].flatMap { UInt64($0) }
  private static let rounds = environment["VITRINE_MODEL_ROUNDS"].flatMap { Int($0) } ?? 60
  private static let steps = 250
  private static let ruins = Lock<[World]>([])

  private struct Outcome: Sendable {
    var violations: [String] = []
    var log: [String] = []
    var loads = 0
    var exactPriorities = 0
    var isFreed = false
  }

  private static func play(_ seed: UInt64, isTraced: Bool = false) -> Outcome {
    var outcome = Outcome()
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
      (outcome.loads, outcome.exactPriorities) = (world.loader.count, world.exactPriorities)
    }
    if outcome.violations.isEmpty, pipeline != nil { outcome.violations.append("something keeps the pipeline") }
    return outcome
  }

  @Test
  func whateverHappensEveryCallerGetsWhatItAskedForOnce() async throws {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: "model", width: 1, stackSize: 8 << 20)
    let first = Self.seed ?? 1
    var (loads, exact) = (0, 0)
    for number in 0..<Self.rounds {
      let seed = first + UInt64(number)
      let outcome = try await queue.run { _ in Self.play(seed, isTraced: Self.seed != nil && Self.rounds == 1) }
      (loads, exact) = (loads + outcome.loads, exact + outcome.exactPriorities)
      guard !outcome.violations.isEmpty else { continue }
      let again = try await queue.run { _ in Self.play(seed, isTraced: true) }
      Issue.record(
        """
        VITRINE_MODEL_SEED=\(seed): \(outcome.violations.joined(separator: "; "))
        \(again.log.suffix(Self.rounds == 1 ? .max : 120).joined(separator: "\n"))
        """
      )
      return
    }
    // It says something only where something happened.
    #expect(loads > Self.rounds)
    #expect(Self.rounds < 20 || exact > 0)
  }
}
