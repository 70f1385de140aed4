public import VitrineImaging
public import VitrineRuntime

/// The URLs of a thumbnail server.
///
/// ```swift
/// let urls = try ThumbnailURLs(configuration)
/// let request = try urls.request(path: "/unsafe/rs:fill:300:200/plain/https://example.org/cat.jpg@webp")
/// let same = try urls.request(path: "/", query: "src=https://example.org/cat.jpg&fit=fill&w=300&h=200&format=webp")
/// ```
/// A path is `/{signature}/{options}/plain/{source}@{extension}`, or `/{signature}/{options}/{source}.{extension}` with
/// the source in Base64 for URLs, as in imgproxy. With `/info` in front, it asks for facts of the original.
public struct ThumbnailURLs: Sendable {
  /// The settings.
  public struct Configuration: Sendable {
    /// The beginning of all paths, such as `/images`, which is not signed; empty for none, the default.
    public var pathPrefix = ""
    /// The keys, of which any may have signed a URL.
    ///
    /// Defaults to none: URLs need no signature.
    public var keys: [SigningKey] = []
    /// A Boolean value that indicates whether URLs without a valid signature are accepted although there are keys.
    ///
    /// Defaults to `false`.
    public var allowsUnsigned = false
    /// The key of encrypted sources; `nil` for none, the default.
    public var sourceKey: SourceKey?
    /// The options of presets, by name: `"rs:fill:300:200/q:80"`.
    ///
    /// That of the name `default` applies to all requests. Defaults to none.
    public var presets: [String: String] = [:]
    /// A Boolean value that indicates whether URLs name presets and no options.
    ///
    /// Defaults to `false`.
    public var allowsOnlyPresets = false
    /// The options that apply before a URL's.
    ///
    /// Defaults to none.
    public var defaults = ThumbnailOptions()
    /// The sources that are allowed.
    ///
    /// Defaults to `SourceRules()`.
    public var sources = SourceRules()
    /// The formats that may be asked for.
    ///
    /// Defaults to all that Vitrine writes and clients on the web show.
    public var formats = ImageFormat.served
    /// The maximum length of path and query together, in bytes.
    ///
    /// Defaults to 8,192.
    public var maxLength = 8192
    /// The maximum number of options in a URL.
    ///
    /// Defaults to 64.
    public var maxOptions = 64
    /// The maximum number of pipelines in a URL, with `-` between them, each on the picture of the one before.
    ///
    /// Defaults to 4.
    public var maxPipelines = 4
    /// The maximum width and height that may be asked for, in pixels, with zoom and pixel ratio.
    ///
    /// Defaults to 8,192.
    public var maxSide = 8192
    /// The longest side of a result in pixels, with canvas and padding, to which longer ones are shrunk; 0 for any.
    ///
    /// A URL may name a lower one. Defaults to 0.
    public var maxResultSide = 0
    /// The maximum number of pixels that may be asked for, where width and height are given, with zoom and pixel ratio.
    ///
    /// Defaults to 33,554,432, which is 8192 by 4096.
    public var maxPixels = 33_554_432
    /// True for a program that does not know the presets of the server.
    package var skipsUnknownPresets = false

    /// Makes the default settings.
    public init() {}

    /// Returns a path without the prefix.
    func relative(_ path: String) throws(RequestError) -> String {
      guard !pathPrefix.isEmpty else { return path }
      let rest = path.dropFirst(pathPrefix.count)
      guard path.hasPrefix(pathPrefix), rest.isEmpty || rest.first == "/" else {
        throw RequestError(404, "a path begins with \(pathPrefix)")
      }
      return String(rest)
    }
  }

  let configuration: Configuration
  /// The presets; their names are bytes.
  let presets: [ByteString: OptionDraft.Preset]

  /// Makes the URLs of a server.
  ///
  /// - Parameter configuration: The settings. Defaults to `Configuration()`.
  /// - Throws: ``ConfigurationError`` if a preset is not valid.
  public init(_ configuration: Configuration = Configuration()) throws(ConfigurationError) {
    self.configuration = configuration
    var presets: [ByteString: OptionDraft.Preset] = [:]
    for (name, text) in configuration.presets {
      do throws(RequestError) {
        presets[ByteString(name)] = try URLOption.lists(text)
      } catch {
        throw ConfigurationError("the preset '\(name)' is not valid: \(error.text)")
      }
    }
    self.presets = presets
    for name in configuration.presets.keys.sorted() {
      do throws(RequestError) {
        var draft = draft()
        // Options that go together only with others are no error yet.
        try draft.apply(preset: name)
      } catch {
        throw ConfigurationError("the preset '\(name)' is not valid: \(error.text)")
      }
    }
  }

  func draft() -> OptionDraft { OptionDraft(configuration, presets) }

  /// Reads a URL.
  ///
  /// - Parameters:
  ///   - path: The path as the client has sent it: nothing decoded, nothing resolved.
  ///   - query: What follows the first `?`, as sent; `nil` if there is none.
  ///   - now: The time, for URLs that expire. Defaults to the system's.
  /// - Returns: The request.
  /// - Throws: ``RequestError``: 403 for a wrong signature and a source that is not allowed, 404 for a path of another
  ///   shape and an expired URL, 414 for a URL that is too long, 400 for everything else.
  public func request(
    path: String,
    query: String? = nil,
    at now: Date = Date(),
  ) throws(RequestError) -> ThumbnailRequest {
    guard path.utf8.count + (query?.utf8.count ?? 0) <= configuration.maxLength else {
      throw RequestError(414, "the URL is longer than \(configuration.maxLength) bytes")
    }
    guard path.isURLText, query?.isURLText != false else {
      throw RequestError(400, "the URL has characters that must be percent-encoded")
    }
    let rest = try configuration.relative(path)
    // A query behind a path with options counts for nothing, as in imgproxy: clients add `?v=2` to URLs of any kind.
    var draft = try Self.isQueryForm(rest) ? read(path: rest, query: query ?? "") : read(path: rest)
    if let expires = draft.expires, expires <= now { throw RequestError(404, "the URL has expired", code: "expired") }
    return try draft.request()
  }

  /// The number of imgproxy's options of a verdict, and the rows of a table of them.
  package static var comparison: (counts: [String: Int], rows: [String]) { OptionTable.comparison }

  /// Returns whether everything is in the query.
  package static func isQueryForm(_ path: String) -> Bool { ["", "/", "/info", "/info/"].contains(path) }

  /// Throws unless a text is signed with one of the keys.
  func verify(_ signature: some StringProtocol, of text: String) throws(RequestError) {
    guard !configuration.keys.isEmpty, !configuration.allowsUnsigned else { return }
    // All keys are tried, so that the time does not tell which one it is.
    let isValid = configuration.keys.reduce(false) { $1.verifies(signature, of: text) || $0 }
    guard isValid else { throw RequestError(403, "the signature is missing or wrong", code: "badSignature") }
  }
}

extension String {
  /// True if all characters are visible ASCII, so that characters and bytes are the same.
  fileprivate var isURLText: Bool { utf8.allSatisfy { (33...126).contains($0) } }
}
