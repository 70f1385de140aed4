import VitrineRuntime

/// The stages of one request as a tree, with their times and facts.
///
/// ```swift
/// let pipeline = ImagePipeline { $0.collectsMetrics = true }
/// let task = pipeline.imageTask(for: request)
/// _ = try await task.image
/// if let metrics = task.metrics { print(metrics) }
/// ```
/// Times are readings of the pipeline's monotonic clock: only their differences have a meaning.
public struct RequestMetrics: Sendable, Hashable, Identifiable {
  /// A part of a stage, such as waiting in a queue.
  public struct Phase: Sendable, Hashable {
    /// The name of the phase.
    ///
    /// The phases are `wait` for another stage, `queue` for a turn, `lease` for another machine, `look-up` in a cache,
    /// `request` until the response, `body`, and `work`.
    public let name: String
    /// The beginning.
    public let began: Duration
    /// The end; `nil` while the phase is running.
    public internal(set) var ended: Duration?

    /// The duration; `nil` while the phase is running.
    public var duration: Duration? { ended.map { $0 - began } }

    /// A Boolean value that indicates whether the stage does nothing itself meanwhile.
    var isWaiting: Bool { ["wait", "queue", "lease"].contains(name) }
  }

  /// A fact about a stage.
  public enum Fact: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// A string.
    case text(String)
    /// A number, in bytes or pixels if it has a unit.
    case number(Int)
    /// A Boolean.
    case flag(Bool)

    /// Creates a string fact.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The string or number, or `true` or `false`.
    public var description: String {
      switch self {
      case .text(let text): text
      case .number(let number): "\(number)"
      case .flag(let flag): "\(flag)"
      }
    }
  }

  /// A stage, with the stages that it waited for.
  public struct Stage: Sendable, Hashable, Identifiable {
    /// An id that is unique among the stages and requests of the pipeline.
    public let id: Int
    /// The kind of the stage.
    public let kind: StageKind
    /// The URL, path or id of the image.
    public let source: String
    /// The id of the request that began the stage; `nil` before a request waits for it.
    public internal(set) var request: Int?
    /// The beginning.
    public let began: Duration
    /// The end; `nil` while the stage is running.
    public internal(set) var ended: Duration?
    /// The time at which this request began to wait for the stage: ``began``, or later if another request began it.
    public internal(set) var since: Duration
    /// A Boolean value that indicates whether another request began the stage.
    public internal(set) var isShared = false
    /// The phases, in order.
    public internal(set) var phases: [Phase] = []
    /// The facts, by name.
    public internal(set) var facts: [String: Fact] = [:]
    /// The stages that this stage waited for, in order.
    public internal(set) var stages: [Stage] = []

    /// The time of the stage's own work, without ``waiting``; `nil` while the stage is running.
    ///
    /// A request does no work itself: its duration is the whole time from ``began`` to ``ended``.
    public var duration: Duration? { ended.map { $0 - began - waiting } }

    /// The time that the stage has waited: for another stage, for a turn in a queue, or for another machine.
    public var waiting: Duration { phases.lazy.filter(\.isWaiting).compactMap(\.duration).reduce(.zero, +) }

    /// The end of the last part of the stage, without shared stages.
    var extent: Duration {
      let phases = phases.map { $0.ended ?? $0.began }.max() ?? began
      let stages = stages.filter { !$0.isShared }.map(\.extent).max() ?? began
      return max(ended ?? began, phases, stages)
    }
  }

  /// The request as a stage, of kind ``StageKind/request``.
  public let root: Stage

  /// An id that is unique among the stages and requests of the pipeline.
  public var id: Int { root.id }
  /// The URL, path or id of the requested image.
  public var source: String { root.source }
  /// The time at which the request was made.
  public var began: Duration { root.began }
  /// The time at which the caller received the result; `nil` while the request is running.
  public var ended: Duration? { root.ended }
  /// The duration of the request; `nil` while it is running.
  public var duration: Duration? { root.duration }
  /// The facts: `from` (the origin), `bytes`, `width` and `height`, or the `error`.
  public var facts: [String: Fact] { root.facts }
  /// The stages that the request waited for, in order; empty if the image was in memory.
  public var stages: [Stage] { root.stages }

  /// The total time that the request spent in queues so far: for a connection, a decoder, a processor.
  ///
  /// A shared stage counts only from the time at which this request began to wait.
  package var queueWait: Duration { root.queueWait(from: root.began) }

  /// The origin of the image or its bytes; `nil` if there is none.
  public var origin: ImageResponse.Origin? {
    guard case .text(let name) = facts["from"] else { return nil }
    return ImageResponse.Origin(rawValue: name)
  }

  /// The cache decision and its reason, such as `revalidate: max-age`; `nil` if no data cache was used.
  package var cacheDecision: String? { root.all.lazy.compactMap { $0.facts["decision"] }.first?.description }

  /// A Boolean value that indicates whether the request shared a stage that another request had begun.
  package var isCoalesced: Bool { root.all.contains { $0.isShared } }
}

extension RequestMetrics.Stage {
  fileprivate func queueWait(from start: Duration) -> Duration {
    let start = max(start, since)
    let own = phases.filter { $0.name == "queue" }.map { max(.zero, ($0.ended ?? $0.began) - max($0.began, start)) }
    return (own + stages.map { $0.queueWait(from: start) }).reduce(.zero, +)
  }

  /// The stage and all stages below it.
  fileprivate var all: [Self] { [self] + stages.flatMap(\.all) }
}

// MARK: - Description

extension RequestMetrics: CustomStringConvertible {
  /// The tree, one stage per line, with times in milliseconds since the request was made.
  public var description: String {
    var lines: [String] = []
    root.describe(since: began, indent: "", &lines)
    return lines.joined(separator: "\n")
  }
}

extension RequestMetrics.Stage {
  fileprivate func describe(since start: Duration, indent: String, _ lines: inout [String]) {
    let times = "\((since - start).inMilliseconds) to \(ended.map { ($0 - start).inMilliseconds } ?? "…") ms"
    let phases = phases.map { "\($0.name) \($0.duration?.inMilliseconds ?? "…")" }.joined(separator: ", ")
    let facts = facts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
    let name = indent + (isShared ? "shared " : "") + (kind == .request ? "\(kind) \(source)" : "\(kind)")
    lines.append(([name, times] + [phases, facts].filter { !$0.isEmpty }).joined(separator: " | "))
    for stage in stages { stage.describe(since: start, indent: indent + "  ", &lines) }
  }
}

extension Duration {
  /// The duration in milliseconds, with one decimal place.
  var inMilliseconds: String {
    let tenths = Int(clamping: (self / .milliseconds(1) * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
  }
}
