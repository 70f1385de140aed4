import VitrineRuntime

/// What one request went through: its stages as a tree, with their times, and what is known about each.
///
/// ```swift
/// let pipeline = ImagePipeline { $0.collectsMetrics = true }
/// let task = pipeline.imageTask(for: request)
/// _ = try await task.image
/// if let metrics = task.metrics { print(metrics) }
/// ```
/// Times are those of a clock that only goes forward, the pipeline's; they can be compared with one another and mean
/// nothing else.
public struct RequestMetrics: Sendable, Hashable, Identifiable {
  /// What a stage did for a while, such as waiting for its turn in a queue.
  public struct Phase: Sendable, Hashable {
    /// What it did.
    ///
    /// `wait` for another stage, `queue` for its turn, `look-up` in a cache, `request` until the answer begins, `body`, `work`.
    public let name: String
    /// When it began.
    public let began: Duration
    /// When it ended; `nil` while it goes on.
    public internal(set) var ended: Duration?

    /// How long it took; `nil` while it goes on.
    public var duration: Duration? { ended.map { $0 - began } }
  }

  /// What is known about a stage beside its times.
  public enum Fact: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Some words.
    case text(String)
    /// A number, in bytes or pixels where it has a unit.
    case number(Int)
    /// Whether something is so.
    case flag(Bool)

    /// Some words.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The words, the number, or `true` or `false`.
    public var description: String {
      switch self {
      case .text(let text): text
      case .number(let number): "\(number)"
      case .flag(let flag): "\(flag)"
      }
    }
  }

  /// One stage, with those that it waited for.
  public struct Stage: Sendable, Hashable, Identifiable {
    /// Tells it apart from all others of its pipeline, the requests included.
    public let id: Int
    /// What it does.
    public let kind: StageKind
    /// The address, path or id of what is loaded.
    public let source: String
    /// When it began.
    public let began: Duration
    /// When it ended; `nil` while it goes on.
    public internal(set) var ended: Duration?
    /// When this request began to wait for it: ``began``, or later where it was under way for another.
    public internal(set) var since: Duration
    /// Whether it was under way for another request.
    public internal(set) var isShared = false
    /// What it did, one after the other.
    public internal(set) var phases: [Phase] = []
    /// What else is known about it, by name.
    public internal(set) var facts: [String: Fact] = [:]
    /// The stages that it waited for, in order.
    public internal(set) var stages: [Stage] = []

    /// How long it took; `nil` while it goes on.
    public var duration: Duration? { ended.map { $0 - began } }

    /// When the last of what belongs to it ended, what others own left out.
    var extent: Duration {
      let phases = phases.map { $0.ended ?? $0.began }.max() ?? began
      let stages = stages.filter { !$0.isShared }.map(\.extent).max() ?? began
      return max(ended ?? began, phases, stages)
    }
  }

  /// The request as a stage, of kind ``StageKind/request``.
  public let root: Stage

  /// Tells it apart from all others of its pipeline.
  public var id: Int { root.id }
  /// The address, path or id of what was asked for.
  public var source: String { root.source }
  /// When the request was made.
  public var began: Duration { root.began }
  /// When its caller was told the end; `nil` while it goes on.
  public var ended: Duration? { root.ended }
  /// How long it took; `nil` while it goes on.
  public var duration: Duration? { root.duration }
  /// What is known about it: where it is `from`, `bytes`, `width` and `height`, or the `error`.
  public var facts: [String: Fact] { root.facts }
  /// The stages that it waited for, in order; none where the image was in memory.
  public var stages: [Stage] { root.stages }

  /// How long it waited for its turn in queues, as far as that is over: for a connection, a decoder, a processor.
  ///
  /// Of stages that were under way for another, what this request waited.
  public var queueWait: Duration { root.queueWait(from: root.began) }

  /// Where the image, or the bytes it was made of, came from; `nil` where there is none.
  public var origin: ImageResponse.Origin? {
    guard case .text(let name) = facts["from"] else { return nil }
    return ImageResponse.Origin(rawValue: name)
  }

  /// What was decided about the bytes and why, such as `revalidate: max-age`; `nil` where no cache of bytes was asked.
  public var cacheDecision: String? { root.all.lazy.compactMap { $0.facts["decision"] }.first?.description }

  /// Whether it shared a stage with a request that was under way.
  public var isCoalesced: Bool { root.all.contains { $0.isShared } }
}

extension RequestMetrics.Stage {
  fileprivate func queueWait(from start: Duration) -> Duration {
    let start = max(start, since)
    let own = phases.filter { $0.name == "queue" }.map { max(.zero, ($0.ended ?? $0.began) - max($0.began, start)) }
    return (own + stages.map { $0.queueWait(from: start) }).reduce(.zero, +)
  }

  /// The stage and those below it.
  fileprivate var all: [Self] { [self] + stages.flatMap(\.all) }
}

// MARK: - In words

extension RequestMetrics: CustomStringConvertible {
  /// The tree, a stage a line, times in milliseconds since the request was made.
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
  /// With one digit behind the point.
  var inMilliseconds: String {
    let tenths = Int((self / .milliseconds(1) * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
