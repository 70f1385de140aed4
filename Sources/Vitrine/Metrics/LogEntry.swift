public import VitrineRuntime

/// An entry of a pipeline's log.
public struct LogEntry: Sendable, Hashable, CustomStringConvertible {
  /// The severity of an entry.
  public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// Cache look-ups and decisions, stage by stage; cancelled requests.
    case debug
    /// A request finished.
    case info
    /// A request continues despite a problem: a stale image was served, a transfer is retried, the disk cache fails.
    case warning
    /// A request failed.
    case error

    /// Returns a Boolean value that indicates whether the first level is less severe than the second.
    public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

    /// The level's name.
    public var description: String {
      switch self {
      case .debug: "debug"
      case .info: "info"
      case .warning: "warning"
      case .error: "error"
      }
    }
  }

  /// The severity.
  public let level: Level
  /// The URL, path or id of the image; `nil` for entries that concern no image.
  public let source: String?
  /// The event, in one line without the source.
  public let message: String
  /// The time at which the entry was written, by the pipeline's clock.
  public let time: Date

  /// The source and the message.
  public var description: String { (source.map { "\($0): " } ?? "") + message }
}
