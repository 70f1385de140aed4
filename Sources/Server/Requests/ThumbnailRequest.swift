public import VitrineImaging
public import VitrineRuntime

/// The thumbnail that a URL asks for.
///
/// ``ThumbnailURLs`` reads it from a path and a query; nothing is loaded.
public struct ThumbnailRequest: Sendable, Hashable {
  /// The place of the original.
  public enum Source: Sendable, Hashable {
    /// An http or https URL in canonical form, or what stands in for the URL of an object, allowed by the ``SourceRules``.
    case url(String)
    /// A file, by its path below the local root: no empty component, no `.` or `..`, no leading slash.
    case localFile(String)

    /// The source in one text that tells all sources apart.
    public var identifier: String {
      switch self {
      case .url(let url): url
      case .localFile(let path): "local:///\(path)"
      }
    }
  }

  /// The place of the original.
  public var source: Source
  /// The changes to the original.
  public var options: ThumbnailOptions
  /// The format that the URL names, by an extension or an option; `nil` if the client's `Accept` decides.
  public var format: ImageFormat?
  /// A Boolean value that indicates whether facts of the original are asked for, as JSON.
  public var isInfo: Bool
  /// The time from which the URL is not valid; `nil` for none.
  ///
  /// No response may be stored for longer.
  public var expires: Date?
  /// The source that is shown if there is an error; `nil`, the default, for the source in the settings.
  public var fallback: Source?

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - source: The place of the original.
  ///   - options: The changes to the original. Defaults to none.
  ///   - format: The format. Defaults to `nil`: the client's `Accept` decides.
  ///   - isInfo: A Boolean value that indicates whether facts of the original are asked for. Defaults to `false`.
  ///   - expires: The time from which the URL is not valid. Defaults to `nil`.
  public init(
    _ source: Source,
    options: ThumbnailOptions = ThumbnailOptions(),
    format: ImageFormat? = nil,
    isInfo: Bool = false,
    expires: Date? = nil,
  ) {
    (self.source, self.options, self.format) = (source, options, format)
    (self.isInfo, self.expires) = (isInfo, expires)
  }
}
