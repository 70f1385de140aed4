// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

/// swift-log's logger, over a closure that receives each message.
public struct Logger: Sendable {
  public typealias Metadata = [String: MetadataValue]

  public enum Level: String, Sendable, CaseIterable, Comparable {
    case trace, debug, info, notice, warning, error, critical

    public static func < (one: Self, other: Self) -> Bool {
      allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
    }
  }

  public enum MetadataValue: Sendable, Hashable {
    case string(String)
  }

  public struct Message: Sendable, Equatable, ExpressibleByStringInterpolation, CustomStringConvertible {
    public let description: String
    public init(stringLiteral text: String) { description = text }
  }

  public var logLevel = Level.info
  private let handler: @Sendable (Level, Message, Metadata) -> Void

  /// Only of the stand-in: the real one has a label and a factory.
  public init(handler: @escaping @Sendable (Level, Message, Metadata) -> Void) { self.handler = handler }

  public func log(
    level: Level,
    _ message: @autoclosure () -> Message,
    metadata: @autoclosure () -> Metadata? = nil,
    source: @autoclosure () -> String? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line,
  ) {
    if level >= logLevel { handler(level, message(), metadata() ?? [:]) }
  }
}
