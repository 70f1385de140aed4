/// The urgency of work.
///
/// It affects only the order in which work starts: running work is not interrupted, and work of equal priority starts
/// in the order of arrival.
public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The priority of work whose result may never be used, such as filling a cache far ahead.
  case veryLow
  /// The priority of work whose result will probably be visible soon, such as prefetching the next screen.
  case low
  /// The default priority.
  case normal
  /// The priority of work whose result is on screen.
  case high
  /// The priority of work that a person is waiting for, such as a photograph that was just tapped.
  case veryHigh

  /// Returns `true` if the left one is less urgent.
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
