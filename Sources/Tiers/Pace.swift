import VitrineCaching
import VitrineRuntime

/// The usual time of a kind of call, and the time for which a caller waits: four times as long.
///
/// A bucket in the cloud takes 40 milliseconds and one on the same machine takes one, so each has a pace of its own.
/// The median moves when half of the last calls differ. So a tier that has become slow is noticed, and its slow calls
/// do not soon count as normal.
///
/// It is a value, and callers pass the times, so it can be tested with a table.
struct Pace: Sendable {
  /// The number of remembered calls, and the minimum number for a median.
  static let (memory, least) = (128, 8)
  /// The number of medians for which a caller waits.
  ///
  /// It covers the slowest calls of a healthy server.
  static let factor = 4

  private let bounds: ClosedRange<Duration>
  private var times: [Duration] = []
  private var count = 0

  /// The time for which a caller waits for one call.
  ///
  /// It is the upper bound until enough calls are known.
  private(set) var patience: Duration

  /// Creates a pace without calls.
  init(within bounds: ClosedRange<Duration>) {
    (self.bounds, patience) = (bounds, bounds.upperBound)
    times.reserveCapacity(Self.memory)
  }

  /// Records the time that a call has taken, or after which it was abandoned.
  mutating func note(_ time: Duration) {
    if times.count < Self.memory { times.append(time) } else { times[count % Self.memory] = time }
    count += 1
    // Sorting takes longer than the rest of a call, so it does not happen at each.
    guard count % Self.least == 0 else { return }
    let median = times.sorted()[times.count / 2]
    patience = min(max(median * Self.factor, bounds.lowerBound), bounds.upperBound)
  }
}
