public import VitrineRuntime

/// An entry of a pipeline's log: a message for a person, and the same in fields.
public struct LogEntry: Sendable, CustomStringConvertible {
  /// The severity of an entry, as in swift-log.
  public enum Level: String, Sendable, Hashable, Comparable, CaseIterable {
    /// Cache look-ups and decisions, stage by stage; cancelled requests.
    case trace
    /// A request finished.
    case debug
    /// A request ended without an image, as is to be expected now and then: status 404 or 410, offline, not in a
    /// cache. Or it finished with a stale image.
    case notice
    /// A request continues despite a problem: its server fails, a transfer is retried, the disk cache fails.
    case warning
    /// A request failed.
    case error

    /// Returns a Boolean value that indicates whether the first level is less severe than the second.
    public static func < (one: Level, other: Level) -> Bool {
      allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: other) ?? 0
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
  /// The stage: ``StageKind/request`` at the end of a request, or the stage that failed; `nil` for entries that concern
  /// no image.
  public internal(set) var stage: StageKind?
  /// The origin of the image or its bytes; `nil` before the end of a request, and if it failed.
  public internal(set) var origin: ImageResponse.Origin?
  /// The number of bytes of the file; `nil` before the end of a request, and if there is none.
  public internal(set) var byteCount: Int?
  /// The duration of the request; `nil` before its end.
  public internal(set) var duration: Duration?
  /// The error: a ``LoadError`` at the end of a request, an `HTTPError` of an attempt; `nil` for none.
  public internal(set) var error: (any Error)?

  /// The source and the message.
  public var description: String { (source.map { "\($0): " } ?? "") + message }
}
