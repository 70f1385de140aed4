import Dispatch
import Foundation

extension DispatchQueue: Scheduler {
  /// An instant on a queue.
  public struct SchedulerTimeType: Strideable, Hashable, Sendable {
    /// The instant as the queue knows it.
    public var dispatchTime: DispatchTime

    /// Makes an instant.
    public init(_ time: DispatchTime) {
      dispatchTime = time
    }

    /// The interval to another instant.
    public func distance(to other: Self) -> Stride {
      let (from, to) = (dispatchTime.uptimeNanoseconds, other.dispatchTime.uptimeNanoseconds)
      return Stride(nanoseconds: to >= from ? Int(to - from) : -Int(from - to))
    }

    /// The instant after an interval.
    public func advanced(by n: Stride) -> Self {
      Self(dispatchTime + n.timeInterval)
    }

    /// Hashes the instant.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(dispatchTime.rawValue)
    }

    /// A length of time on a queue.
    public struct Stride: Comparable, Hashable, SignedNumeric, ExpressibleByFloatLiteral,
      SchedulerTimeIntervalConvertible, Sendable
    {
      /// The length in nanoseconds.
      public var magnitude: Int

      init(nanoseconds: Int) {
        magnitude = nanoseconds
      }

      /// The interval as the queue knows it.
      public var timeInterval: DispatchTimeInterval {
        .nanoseconds(magnitude)
      }

      /// Makes an interval of seconds.
      public init(floatLiteral value: Double) {
        self = .seconds(value)
      }

      /// Makes an interval of seconds.
      public init(integerLiteral value: Int) {
        self = .seconds(value)
      }

      /// Makes an interval of nanoseconds if the number fits.
      public init?<T>(exactly source: T) where T: BinaryInteger {
        guard let value = Int(exactly: source) else { return nil }
        self.init(nanoseconds: value)
      }

      /// Whether an interval is shorter than another.
      public static func < (lhs: Self, rhs: Self) -> Bool { lhs.magnitude < rhs.magnitude }
      /// Multiplies intervals.
      public static func * (lhs: Self, rhs: Self) -> Self { Self(nanoseconds: lhs.magnitude * rhs.magnitude) }
      /// Adds intervals.
      public static func + (lhs: Self, rhs: Self) -> Self { Self(nanoseconds: lhs.magnitude + rhs.magnitude) }
      /// Subtracts intervals.
      public static func - (lhs: Self, rhs: Self) -> Self { Self(nanoseconds: lhs.magnitude - rhs.magnitude) }
      /// Multiplies intervals in place.
      public static func *= (lhs: inout Self, rhs: Self) { lhs = lhs * rhs }
      /// Adds intervals in place.
      public static func += (lhs: inout Self, rhs: Self) { lhs = lhs + rhs }
      /// Subtracts intervals in place.
      public static func -= (lhs: inout Self, rhs: Self) { lhs = lhs - rhs }
      /// A number of seconds.
      public static func seconds(_ s: Int) -> Self { Self(nanoseconds: s * 1_000_000_000) }
      /// A number of seconds, with a fraction.
      public static func seconds(_ s: Double) -> Self { Self(nanoseconds: Int(s * 1_000_000_000)) }
      /// A number of milliseconds.
      public static func milliseconds(_ ms: Int) -> Self { Self(nanoseconds: ms * 1_000_000) }
      /// A number of microseconds.
      public static func microseconds(_ us: Int) -> Self { Self(nanoseconds: us * 1000) }
      /// A number of nanoseconds.
      public static func nanoseconds(_ ns: Int) -> Self { Self(nanoseconds: ns) }
    }
  }

  /// How a queue runs a closure.
  public struct SchedulerOptions {
    /// The quality of service.
    public var qos: DispatchQoS
    /// The flags of the work.
    public var flags: DispatchWorkItemFlags
    /// The group the work belongs to.
    public var group: DispatchGroup?

    /// Makes options.
    public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil) {
      self.qos = qos
      self.flags = flags
      self.group = group
    }
  }

  /// The present instant.
  public var now: SchedulerTimeType { SchedulerTimeType(.now()) }
  /// The smallest tolerance.
  public var minimumTolerance: SchedulerTimeType.Stride { .nanoseconds(0) }

  /// Runs a closure on the queue at the next opportunity.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    let work = Work(action)
    async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) { work.action() }
  }

  /// Runs a closure on the queue after an instant.
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) {
    let work = Work(action)
    asyncAfter(
      deadline: date.dispatchTime,
      qos: options?.qos ?? .unspecified,
      flags: options?.flags ?? [],
    ) { work.action() }
  }

  /// Runs a closure on the queue after an instant, and again at an interval.
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) -> any Cancellable {
    let work = Work(action)
    let timer = DispatchSource.makeTimerSource(queue: self)
    timer.schedule(deadline: date.dispatchTime, repeating: interval.timeInterval, leeway: tolerance.timeInterval)
    timer.setEventHandler { work.action() }
    timer.resume()
    return AnyCancellable { timer.cancel() }
  }

  // Unchecked: the protocol takes a closure that is not Sendable, and its
  // caller hands it over to the queue, as with the real framework.
  private struct Work: @unchecked Sendable {
    let action: () -> Void

    init(_ action: @escaping () -> Void) {
      self.action = action
    }
  }
}
