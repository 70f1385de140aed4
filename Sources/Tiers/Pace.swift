import VitrineCaching
import VitrineRuntime

/// The usual time of one kind of call, and how long a caller waits for the next one: four times as long.
///
/// A bucket in the cloud takes 40 milliseconds, one on the same machine takes one, and each is waited for at its own pace.
/// The median moves when half of the last calls differ. So a tier that has become slow is noticed, and the calls in which
/// that shows do not make it look normal.
///
/// A value that is told the times, so that a table tests it.
struct Pace: Sendable {
  /// The number of calls that are remembered, and of those that it takes to tell anything.
  static let (memory, least) = (128, 8)
  /// The number of medians for which a caller waits: the slowest calls of a healthy server, not those of a sick one.
  static let factor = 4

  private let bounds: ClosedRange<Duration>
  private var times: [Duration] = []
  private var count = 0

  /// The time for which a caller waits for one call.
  ///
  /// The longest that it may, until enough is known.
  private(set) var patience: Duration

  /// Creates the pace of calls of which nothing is known.
  init(within bounds: ClosedRange<Duration>) {
    (self.bounds, patience) = (bounds, bounds.upperBound)
    times.reserveCapacity(Self.memory)
  }

  /// Remembers the time that a call has taken, or after which it was given up.
  mutating func note(_ time: Duration) {
    if times.count < Self.memory { times.append(time) } else { times[count % Self.memory] = time }
    count += 1
    // Sorting takes longer than the rest of a call, so not at each.
    guard count % Self.least == 0 else { return }
    let median = times.sorted()[times.count / 2]
    patience = min(max(median * Self.factor, bounds.lowerBound), bounds.upperBound)
  }
}
