/// The urgency of work.
///
/// It decides only what starts first: running work is not interrupted, and work of equal priority starts in the order
/// in which it came.
public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// For work whose result may never be used, such as filling a cache far ahead.
  case veryLow
  /// For work whose result will probably be visible soon, such as prefetching the next screen.
  case low
  /// The default.
  case normal
  /// For work whose result is on screen.
  case high
  /// For work that a person is waiting for, such as a photograph that was just tapped.
  case veryHigh

  /// Returns `true` if the left one is less urgent.
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
