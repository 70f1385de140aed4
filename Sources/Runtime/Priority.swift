/// How urgent a piece of work is, from what may never be looked at to what someone is waiting for.
///
/// It decides what starts first and nothing else: what already runs is not interrupted, and among
/// equals the first to come is the first to start.
public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// For what may well be thrown away, such as filling a cache far ahead.
  case veryLow
  /// For what will probably be seen soon, such as prefetching the next screen.
  case low
  /// For what is asked for without saying more; the default everywhere.
  case normal
  /// For what is on screen.
  case high
  /// For what someone has just asked for and looks at, such as a photograph that was tapped.
  case veryHigh

  /// Returns whether the left one is less urgent.
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
