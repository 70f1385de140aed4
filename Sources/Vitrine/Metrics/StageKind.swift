/// What a stage of a request does.
///
/// There may be more kinds in later versions; a `switch` over them has a default.
public struct StageKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// Its name, as in traces.
  public let rawValue: String

  /// Makes one of its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes one of its name.
  public init(stringLiteral name: String) { rawValue = name }

  /// The request itself, from when it was made until its caller was told.
  public static let request: StageKind = "request"
  /// What interceptors make of it, with what they ask for.
  public static let intercept: StageKind = "intercept"
  /// Several sources, tried one after the other.
  public static let sources: StageKind = "sources"
  /// The look for an image on disk as it was shown before.
  public static let finished: StageKind = "finished"
  /// The question whether an image whose time is over is still the same.
  public static let confirm: StageKind = "confirm"
  /// Getting bytes: from the disk, from a server, from a file.
  public static let fetch: StageKind = "fetch"
  /// One transfer from a server; a fetch that is redirected or tried again has several.
  public static let transfer: StageKind = "transfer"
  /// Making pixels of bytes.
  public static let decode: StageKind = "decode"
  /// Making an image of a larger one that is in memory.
  public static let resample: StageKind = "resample"
  /// One processor.
  public static let process: StageKind = "process"

  /// Its name.
  public var description: String { rawValue }
}
