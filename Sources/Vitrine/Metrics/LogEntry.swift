public import VitrineRuntime

/// A line for a log.
public struct LogEntry: Sendable, Hashable, CustomStringConvertible {
  /// How much it matters.
  public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// What the caches had and what was decided, stage by stage; cancelled requests.
    case debug
    /// A request is done.
    case info
    /// It went on, though not as it should: something stale was served, a transfer was tried again, the disk refuses.
    case warning
    /// A request failed.
    case error

    /// Whether one matters less than another.
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

  /// How much it matters.
  public let level: Level
  /// The address, path or id of what is loaded; `nil` where it concerns no image.
  public let source: String?
  /// What happened, in one line without the source.
  public let message: String
  /// When it was told, by the pipeline's clock.
  public let time: Date

  /// The source and what happened.
  public var description: String { (source.map { "\($0): " } ?? "") + message }
}
