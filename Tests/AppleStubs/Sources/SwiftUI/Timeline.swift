import Foundation

/// How often a timeline view is updated.
public enum TimelineScheduleMode: Hashable, Sendable {
  /// The modes.
  case normal, lowFrequency
}

/// The dates at which a timeline view is updated.
public protocol TimelineSchedule {
  /// How often the view is updated.
  typealias Mode = TimelineScheduleMode
  /// The kind of sequence.
  associatedtype Entries: Sequence where Entries.Element == Date

  /// The dates from a date on, in order.
  func entries(from startDate: Date, mode: Mode) -> Entries
}

/// A schedule that updates with each movement of the host's clock.
public struct AnimationTimelineSchedule: TimelineSchedule, Sendable {
  let minimumInterval: Double?
  let paused: Bool

  /// Makes a schedule.
  public init(minimumInterval: Double? = nil, paused: Bool = false) {
    self.minimumInterval = minimumInterval
    self.paused = paused
  }

  /// The dates of an animation.
  public struct Entries: Sequence, IteratorProtocol, Sendable {
    var date: Date?
    let interval: Double

    /// The next date.
    public mutating func next() -> Date? {
      defer { date = date?.addingTimeInterval(interval) }
      return date
    }
  }

  /// The dates from a date on, or none while paused.
  public func entries(from start: Date, mode: TimelineScheduleMode) -> Entries {
    Entries(date: paused ? nil : start, interval: minimumInterval ?? 1 / 60)
  }
}

/// A schedule of dates at an interval.
public struct PeriodicTimelineSchedule: TimelineSchedule, Sendable {
  let start: Date
  let interval: TimeInterval

  /// Makes a schedule.
  public init(from startDate: Date, by interval: TimeInterval) {
    start = startDate
    self.interval = interval
  }

  /// The dates of a periodic schedule.
  public struct Entries: Sequence, IteratorProtocol, Sendable {
    var date: Date?
    let interval: Double

    /// The next date.
    public mutating func next() -> Date? {
      defer { date = interval > 0 ? date?.addingTimeInterval(interval) : nil }
      return date
    }
  }

  /// The dates from the last one before a date on.
  public func entries(from startDate: Date, mode: TimelineScheduleMode) -> Entries {
    let steps = interval > 0 ? (startDate.timeIntervalSince(start) / interval).rounded(.down) : 0
    return Entries(date: start.addingTimeInterval(max(0, steps) * interval), interval: interval)
  }
}

extension TimelineSchedule where Self == AnimationTimelineSchedule {
  /// A schedule of an animation that may be slow or paused.
  public static func animation(
    minimumInterval: Double? = nil,
    paused: Bool = false,
  ) -> AnimationTimelineSchedule {
    AnimationTimelineSchedule(minimumInterval: minimumInterval, paused: paused)
  }
}

/// A view that is made again at the dates of a schedule.
nonisolated public struct TimelineView<Schedule: TimelineSchedule, Content> {
  /// What the content is made of.
  public struct Context {
    /// How often the view is updated.
    public enum Cadence: Comparable, Sendable {
      /// The rates.
      case live, seconds, minutes
    }

    /// The date of the schedule.
    public let date: Date
    /// How often the view is updated.
    public let cadence: Cadence
  }

  let schedule: Schedule
  let content: (TimelineViewDefaultContext) -> Content
}

/// The context of a timeline view of any kind.
public typealias TimelineViewDefaultContext = TimelineView<EveryMinuteTimelineSchedule, Never>.Context

/// A schedule of the starts of minutes.
public struct EveryMinuteTimelineSchedule: TimelineSchedule, Sendable {
  /// The dates from the start of a date's minute on.
  public func entries(from startDate: Date, mode: TimelineScheduleMode) -> PeriodicTimelineSchedule.Entries {
    PeriodicTimelineSchedule(from: Date(timeIntervalSinceReferenceDate: 0), by: 60).entries(
      from: startDate,
      mode: mode,
    )
  }
}

extension TimelineView: View where Content: View {
  /// A basic view has no body.
  public typealias Body = Never

  /// Makes a view of a schedule and a closure.
  nonisolated public init(
    _ schedule: Schedule,
    @ViewBuilder content: @escaping (TimelineViewDefaultContext) -> Content,
  ) {
    self.schedule = schedule
    self.content = content
  }
}

/// The date of a timeline view.
@MainActor
private final class TimelineMemo {
  var date: Date

  init(_ date: Date) {
    self.date = date
  }
}

extension TimelineView: Primitive where Content: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: SwiftUI.Context) {
    let memo = node.memo { TimelineMemo(pass.now) }
    pass.isTimed = true
    if let animation = schedule as? AnimationTimelineSchedule {
      // A hair less than the interval will do, so that sums of fractions are no trap.
      let step = (animation.minimumInterval ?? 0) - 1e-9
      if !animation.paused, pass.now.timeIntervalSince(memo.date) >= step { memo.date = pass.now }
    } else {
      for date in schedule.entries(from: memo.date, mode: .normal) {
        if date > pass.now { break }
        memo.date = date
      }
    }
    let date = memo.date
    let view = pass.track(node) { content(TimelineViewDefaultContext(date: date, cadence: .live)) }
    pass.visit(view, .slot(0), in: node, context)
  }
}
