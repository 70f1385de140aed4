import Foundation

/// Times at which a view is made anew; the stub has the schedule of frames.
public protocol TimelineSchedule {}

/// A time for each frame, unless it is paused.
public struct AnimationTimelineSchedule: TimelineSchedule, Sendable {
  let paused: Bool
}

extension TimelineSchedule where Self == AnimationTimelineSchedule {
  /// A time for each frame, unless it is paused.
  public static func animation(
    minimumInterval: Double? = nil,
    paused: Bool = false,
  ) -> AnimationTimelineSchedule {
    AnimationTimelineSchedule(paused: paused)
  }
}

/// What the content of a timeline knows of the time.
public struct TimelineViewDefaultContext {
  /// The time of the schedule.
  public let date: Date
}

/// A view that is made anew at the times of a schedule.
nonisolated public struct TimelineView<Schedule: TimelineSchedule, Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let schedule: Schedule
  let content: (TimelineViewDefaultContext) -> Content

  /// Makes a view of the content at each time.
  nonisolated public init(
    _ schedule: Schedule,
    @ViewBuilder content: @escaping (TimelineViewDefaultContext) -> Content,
  ) {
    self.schedule = schedule
    self.content = content
  }
}

extension TimelineView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    let memo = node.memo { Box(pass.now) }
    pass.isTimed = true
    let isPaused = (schedule as? AnimationTimelineSchedule)?.paused ?? true
    if !isPaused { memo.value = pass.now }
    let date = memo.value
    let view = pass.track(node) { content(TimelineViewDefaultContext(date: date)) }
    pass.visit(view, .slot(0), in: node, context)
  }
}
