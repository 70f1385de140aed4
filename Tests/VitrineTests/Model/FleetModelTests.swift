import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport

/// Random histories of several pipelines over one shared tier, each step taken by hand, against a model of what must
/// hold: nobody is served what is older than the request allows, whatever the tier does.
@Suite(.patient)
struct FleetModelTests {
  private static let steps = 400
  private static let ruins = Lock<[Fleet]>([])

  private static func play(_ seed: UInt64, isTraced: Bool) -> RandomHistories.Outcome {
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
    var outcome = RandomHistories.Outcome(violations: fleet.violations, log: fleet.log)
    (outcome.loads, outcome.cases) = (fleet.loadCount, fleet.sharedHits)
    return outcome
  }

  @Test
  func whateverServersAndTiersDoNobodyIsServedWhatIsOlderThanAllowed() async throws {
    let counts = try await RandomHistories.play("fleet") { Self.play($0, isTraced: $1) }
    guard let counts else { return }
    // It says something only where something happened.
    #expect(counts.loads > RandomHistories.rounds)
    #expect(counts.cases > RandomHistories.rounds)
  }
}
