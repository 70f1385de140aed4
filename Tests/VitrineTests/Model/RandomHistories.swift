import Testing
import VitrineRuntime

/// Random histories, each of which is played again and printed if it violates its model.
///
/// A failure names its seed: `make check NAME=model ROUNDS=1 SEED=…` plays that history again and prints it. It sets
/// `SWIFT_DETERMINISTIC_HASHING=1`, without which sets have another order in each process.
enum RandomHistories {
  /// The end of a history: the rules that were broken, and numbers that say whether anything happened.
  struct Outcome: Sendable {
    var violations: [String] = []
    var log: [String] = []
    /// The number of loads.
    var loads = 0
    /// The number of times that the model was about more than loads.
    var cases = 0
  }

  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["VITRINE_MODEL_SEED"].flatMap { UInt64($0) }
  /// The number of histories.
  static let rounds = environment["VITRINE_MODEL_ROUNDS"].flatMap { Int($0) } ?? 60

  /// Plays all histories, up to the first that violates its model, which is an issue.
  ///
  /// Returns the sums of all numbers; `nil` after an issue.
  static func play(
    _ label: String,
    _ play: @escaping @Sendable (_ seed: UInt64, _ isTraced: Bool) -> Outcome,
  ) async throws -> (loads: Int, cases: Int)? {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: label, width: 1, stackSize: 8 << 20)
    var (loads, cases) = (0, 0)
    for number in 0..<rounds {
      let seed = (seed ?? 1) + UInt64(number)
      let outcome = try await queue.run { _ in play(seed, Self.seed != nil && rounds == 1) }
      (loads, cases) = (loads + outcome.loads, cases + outcome.cases)
      guard !outcome.violations.isEmpty else { continue }
      let again = try await queue.run { _ in play(seed, true) }
      Issue.record(
        """
        SEED=\(seed): \(outcome.violations.joined(separator: "; "))
        \(again.log.suffix(rounds == 1 ? .max : 120).joined(separator: "\n"))
        """
      )
      return nil
    }
    return (loads, cases)
  }
}
