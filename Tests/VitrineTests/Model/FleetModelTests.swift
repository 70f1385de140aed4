import Testing
import Vitrine
import VitrineRuntime

/// Random histories of several pipelines over one shared tier, each step taken by hand, against a model of what must
/// hold: nobody is served what is older than the request allows, whatever the tier does.
///
/// A failure names its seed: `VITRINE_MODEL_SEED=… VITRINE_MODEL_ROUNDS=1` plays that history again and prints it.
@Suite(.timeLimit(.minutes(20)))
struct FleetModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["VITRINE_MODEL_SEED"].flatMap { UInt64($0) }
  private static let rounds = environment["VITRINE_MODEL_ROUNDS"].flatMap { Int($0) } ?? 60
  private static let steps = 400
  private static let ruins = Lock<[Fleet]>([])

  private struct Outcome: Sendable {
    var violations: [String] = []
    var log: [String] = []
    var loads = 0
    var sharedHits = 0
  }

  private static func play(_ seed: UInt64, isTraced: Bool = false) -> Outcome {
    let fleet = Fleet(seed: seed, isTraced: isTraced)
    var number = 0
    while number < steps, fleet.violations.isEmpty {
      fleet.act()
      number += 1
    }
    if fleet.violations.isEmpty { fleet.drain() }
    if fleet.violations.isEmpty { fleet.checkRecovery() }
    // What is still under way in a fleet that went wrong would call on it.
    if !fleet.violations.isEmpty { ruins.withLock { $0.append(fleet) } }
    var outcome = Outcome(violations: fleet.violations, log: fleet.log)
    (outcome.loads, outcome.sharedHits) = (fleet.loadCount, fleet.sharedHits)
    return outcome
  }

  @Test
  func whateverServersAndTiersDoNobodyIsServedWhatIsOlderThanAllowed() async throws {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: "fleet", width: 1, stackSize: 8 << 20)
    let first = Self.seed ?? 1
    var (loads, hits) = (0, 0)
    for number in 0..<Self.rounds {
      let seed = first + UInt64(number)
      let outcome = try await queue.run { _ in Self.play(seed, isTraced: Self.seed != nil && Self.rounds == 1) }
      (loads, hits) = (loads + outcome.loads, hits + outcome.sharedHits)
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
    #expect(hits > Self.rounds)
  }
}
