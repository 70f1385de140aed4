/// A protocol for types that tell when and how to run a closure.
public protocol Scheduler<SchedulerTimeType> {
  /// An instant on this scheduler.
  associatedtype SchedulerTimeType: Strideable where SchedulerTimeType.Stride: SchedulerTimeIntervalConvertible
  /// What options the scheduler takes.
  associatedtype SchedulerOptions

  /// The present instant.
  var now: SchedulerTimeType { get }
  /// The smallest tolerance the scheduler allows.
  var minimumTolerance: SchedulerTimeType.Stride { get }

  /// Runs a closure at the next opportunity.
  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)
  /// Runs a closure after an instant.
  func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  )
  /// Runs a closure after an instant, and again at an interval.
  func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) -> any Cancellable
}

/// A length of time that a scheduler understands.
public protocol SchedulerTimeIntervalConvertible {
  /// A number of seconds.
  static func seconds(_ s: Int) -> Self
  /// A number of seconds, with a fraction.
  static func seconds(_ s: Double) -> Self
  /// A number of milliseconds.
  static func milliseconds(_ ms: Int) -> Self
  /// A number of microseconds.
  static func microseconds(_ us: Int) -> Self
  /// A number of nanoseconds.
  static func nanoseconds(_ ns: Int) -> Self
}

extension Scheduler {
  /// Runs a closure at the next opportunity.
  public func schedule(_ action: @escaping () -> Void) {
    schedule(options: nil, action)
  }

  /// Runs a closure after an instant.
  public func schedule(after date: SchedulerTimeType, _ action: @escaping () -> Void) {
    schedule(after: date, tolerance: minimumTolerance, options: nil, action)
  }
}

/// A scheduler that runs each closure at once.
public struct ImmediateScheduler: Scheduler, Sendable {
  /// The instants of the immediate scheduler, which knows only one.
  public struct SchedulerTimeType: Strideable {
    /// The length between two instants, which is not kept.
    public struct Stride: Comparable, SignedNumeric, ExpressibleByFloatLiteral, SchedulerTimeIntervalConvertible,
      Sendable
    {
      /// The length of the interval.
      public var magnitude: Int

      /// Makes an interval.
      public init(_ value: Int) {
        magnitude = value
      }

      /// Makes an interval of a whole number.
      public init(integerLiteral value: Int) {
        self.init(value)
      }

      /// Makes an interval of a number.
      public init(floatLiteral value: Double) {
        self.init(Int(value))
      }

      /// Makes an interval if the number fits.
      public init?<T>(exactly source: T) where T: BinaryInteger {
        guard let value = Int(exactly: source) else { return nil }
        self.init(value)
      }

      /// Whether an interval is shorter than another.
      public static func < (lhs: Self, rhs: Self) -> Bool { lhs.magnitude < rhs.magnitude }
      /// Multiplies intervals.
      public static func * (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude * rhs.magnitude) }
      /// Adds intervals.
      public static func + (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude + rhs.magnitude) }
      /// Subtracts intervals.
      public static func - (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude - rhs.magnitude) }
      /// Multiplies intervals in place.
      public static func *= (lhs: inout Self, rhs: Self) { lhs = lhs * rhs }
      /// Adds intervals in place.
      public static func += (lhs: inout Self, rhs: Self) { lhs = lhs + rhs }
      /// Subtracts intervals in place.
      public static func -= (lhs: inout Self, rhs: Self) { lhs = lhs - rhs }
      /// The empty interval.
      public static func seconds(_ s: Int) -> Self { 0 }
      /// The empty interval.
      public static func seconds(_ s: Double) -> Self { 0 }
      /// The empty interval.
      public static func milliseconds(_ ms: Int) -> Self { 0 }
      /// The empty interval.
      public static func microseconds(_ us: Int) -> Self { 0 }
      /// The empty interval.
      public static func nanoseconds(_ ns: Int) -> Self { 0 }
    }

    /// No distance at all.
    public func distance(to other: Self) -> Stride { 0 }
    /// The same instant.
    public func advanced(by n: Stride) -> Self { self }
  }

  /// There are no options.
  public typealias SchedulerOptions = Never

  /// The shared immediate scheduler.
  public static let shared = ImmediateScheduler()

  /// The present instant.
  public var now: SchedulerTimeType { SchedulerTimeType() }
  /// The smallest tolerance: none.
  public var minimumTolerance: SchedulerTimeType.Stride { 0 }

  /// Runs the closure now.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    action()
  }

  /// Runs the closure now.
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) {
    action()
  }

  /// Runs the closure now, one time.
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) -> any Cancellable {
    action()
    return Subscriptions.empty
  }
}
