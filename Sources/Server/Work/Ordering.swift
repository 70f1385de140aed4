import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// Makes orders of requests, by the rules of URLs and of negotiation.
struct Ordering: Sendable {
  private let urls: ThumbnailURLs
  private let negotiation: Negotiation.Configuration
  private let watermark: Bitmap?
  private let showsDamaged: Bool
  private let rasterizesDrawings: Bool
  /// The beginning of URLs that answers to viewers name, empty for the host of the request; `nil` without such viewers.
  private let zoomBase: String?
  private let trustsProxy: Bool
  private let pathPrefix: String
  private let defaults: ThumbnailOptions
  /// The source for errors; `nil` for none, or a file.
  private let placeholder: ThumbnailRequest.Source?

  init(_ configuration: ThumbnailServer.Configuration, _ pipeline: ImagePipeline) throws(ServerError) {
    (showsDamaged, rasterizesDrawings) = (configuration.showsDamaged, configuration.rasterizesDrawings)
    (zoomBase, trustsProxy) = (configuration.zoomBase, configuration.trustsForwardedFor)
    (pathPrefix, defaults) = (configuration.urls.pathPrefix, configuration.urls.defaults)
    var settings = configuration.urls
    settings.sources.allowsLocalFiles = configuration.localRoot != nil
    settings.sources.addressGuard = configuration.addressGuard
    // A picture, a copy of it and its file take half of the memory at most.
    settings.maxPixels = min(settings.maxPixels, configuration.memory / 32)
    let encoders = pipeline.configuration.encoders.formats
    settings.formats.removeAll { !encoders.contains($0) }
    do throws(ConfigurationError) {
      urls = try ThumbnailURLs(settings)
    } catch {
      throw ServerError(error.description)
    }
    placeholder = try Self.placeholder(configuration, settings.sources)
    var negotiation = configuration.negotiation
    negotiation.formats.removeAll { !encoders.contains($0) }
    (negotiation.maxSide, negotiation.maxPixels) = (settings.maxSide, settings.maxPixels)
    self.negotiation = negotiation
    guard let path = configuration.watermark else {
      watermark = nil
      return
    }
    do {
      watermark = try pipeline.configuration.decoders.decode(try FileContents.at(path), DecodeOptions()).bitmap
    } catch {
      throw ServerError("the watermark \(path) cannot be used: \(error)")
    }
  }

  /// Returns the source for errors, which the operator names, so that it need not be among the allowed ones.
  private static func placeholder(
    _ configuration: ThumbnailServer.Configuration,
    _ rules: SourceRules,
  ) throws(ServerError) -> ThumbnailRequest.Source? {
    guard let text = configuration.placeholder, text.contains("://") else { return nil }
    var rules = rules
    (rules.prefixes, rules.allowsURLs, rules.replacements) = ([], true, [])
    do throws(RequestError) {
      let source = try rules.source(text)
      _ = try Self.source(source)
      return source
    } catch {
      throw ServerError("the placeholder \(text) cannot be used: \(error.reason ?? error.text)")
    }
  }

  /// The fields that may change an answer, as one text: requests for one target with equal texts have one answer.
  func fields(_ request: borrowing ReceivedRequest) -> String {
    let fields = Negotiation.fingerprint(negotiation) { request[$0] }
    guard zoomBase == "" else { return fields }
    // The answer names the host.
    return "\(fields)\n\(request["Host"] ?? "")\n\(trustsProxy ? request["X-Forwarded-Proto"] ?? "" : "")"
  }

  func order(_ request: borrowing ReceivedRequest, at now: Date) throws(Refusal) -> Order {
    do throws(RequestError) {
      return try order(request, now)
    } catch {
      throw Refusal(status: error.status, text: error.text, code: error.code, reason: error.reason)
    }
  }

  private func order(_ request: borrowing ReceivedRequest, _ now: Date) throws(RequestError) -> Order {
    let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let (path, query) = (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : nil)
    if let zoomBase, let zoom = try urls.zoomRequest(path: path) {
      return try order(zoom, path, try zoomBase.isEmpty ? base(request) : zoomBase + pathPrefix)
    }
    let asked = try urls.request(path: path, query: query, at: now)
    let (source, url, name) = try Self.source(asked.source)
    guard !asked.isInfo else {
      return Order(
        kind: .info,
        key: ByteString("info \(asked.source.identifier)"),
        url: url,
        request: source(nil),
        encoding: ImageEncoding(.jpeg),
        terms: AnswerTerms(expires: asked.expires),
      )
    }
    let headers = HTTPFields(negotiation.consultedFields.compactMap { name in request[name].map { (name, $0) } })
    var choice = Negotiation.choose(asked, headers: headers, negotiation)
    // A source that is named like a picture shares its thumbnails with requests that name their format.
    if asked.format == nil, !rasterizesDrawings, asked.source.namedFormat ?? .svg == .svg {
      choice.options.passedOn.insert(.svg)
    }
    // The same picture, whatever the name under which it is saved.
    var shared = choice
    (shared.options.isAttachment, shared.options.fileName) = (false, nil)
    var request = source(try choice.options.imageRequest(for: .url(""), watermark: watermark))
    request.acceptsPartial = showsDamaged
    let other = asked.fallback ?? placeholder
    let fallback = try other.map { other throws(RequestError) in
      let (source, url, _) = try Self.source(other)
      return Fallback(url: url, request: source(request))
    }
    return Order(
      key: ByteString(
        "\(shared.canonical) \(asked.source.identifier)\(asked.fallback.map { " \($0.identifier)" } ?? "")"
      ),
      url: url,
      variant: shared.canonical,
      request: request,
      encoding: choice.encoding,
      fallback: fallback,
      terms: AnswerTerms(
        vary: choice.vary,
        expires: asked.expires,
        fileName: choice.options.fileName ?? (choice.options.isAttachment ? name : nil),
        isAttachment: choice.options.isAttachment,
      ),
    )
  }

  // MARK: Viewers

  /// Returns the order of a viewer that zooms.
  private func order(_ zoom: ZoomRequest, _ path: String, _ base: String) throws(RequestError) -> Order {
    let (source, url, _) = try Self.source(zoom.source)
    let format: ImageFormat =
      switch zoom.kind {
      case .image(_, let format), .tile(_, _, _, let format): format
      case .base, .info, .descriptor: .jpeg
      }
    return Order(
      kind: .zoom(zoom, base: base),
      key: ByteString("zoom \(base) \(path) \(zoom.source.identifier)"),
      url: url,
      request: source(nil),
      encoding: defaults.encoding(as: format),
    )
  }

  /// Returns the beginning of the server's URLs, by the host that the client has asked.
  private func base(_ request: borrowing ReceivedRequest) throws(RequestError) -> String {
    let host = request["Host"] ?? ""
    let isHost =
      !host.isEmpty
      && host.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || ".-:[]".utf8.contains(byte)
      }
    guard isHost else { throw RequestError(400, "the field Host is not a host") }
    let scheme = trustsProxy && request["X-Forwarded-Proto"]?.lowercased() == "https" ? "https" : "http"
    return "\(scheme)://\(host)\(pathPrefix)"
  }

  /// Returns a function that sets the source in a request, the URL of the source, and its own name.
  private static func source(
    _ source: ThumbnailRequest.Source
  ) throws(RequestError) -> ((ImageRequest?) -> ImageRequest, url: String, name: String) {
    let url: String
    let isLocal: Bool
    switch source {
    case .url(let text):
      // The name for files is not a host that exists.
      guard let parsed = try? HTTPURL(text), parsed.host != LocalFiles.host else {
        throw RequestError(403, "the source is not allowed", code: "sourceNotAllowed")
      }
      (url, isLocal) = (text, false)
    case .localFile(let path):
      guard let text = LocalFiles.url(of: path) else { throw RequestError(404, "the source does not exist") }
      (url, isLocal) = (text, true)
    }
    let key = ObjectURL(standIn: url)?.key.split(separator: "/").last.map(String.init)
    let path = url.prefix { $0 != "?" }
    let file = key ?? path.split(separator: "/").last.flatMap { PercentEncoding.decode($0) } ?? "image"
    let name = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    return (
      { request in
        var request = request ?? ImageRequest(url: url)
        request.source = .url(url)
        // A file is on this disk already.
        if isLocal { request.storagePolicy = .finished }
        return request
      }, url, name.isEmpty ? "image" : name,
    )
  }
}
