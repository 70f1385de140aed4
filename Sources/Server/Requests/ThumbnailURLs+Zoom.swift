import VitrineHTTP
import VitrineImaging

// The URLs of viewers that zoom: the IIIF Image API 3.0 (iiif.io/api/image/3.0), level 1, and Deep Zoom.
extension ThumbnailURLs {
  /// The beginnings of their paths.
  private static let (iiif, deepZoom) = ("/iiif/3/", "/dzi/")

  /// Reads the URL of a viewer that zooms: `/iiif/3/{identifier}/…` or `/dzi/{identifier}.dzi`.
  ///
  /// The identifier is the source, percent-encoded as one component of the path; if URLs are signed, with the signature of
  /// `/zoom/` and the source, and a comma, in front.
  ///
  /// - Parameter path: The path as the client has sent it.
  /// - Returns: The request; `nil` for every other path.
  /// - Throws: ``RequestError``: 403 for a wrong signature and a source that is not allowed, 404 for a path of another shape,
  ///   501 for parts of the specification beyond level 1, 414 for a URL that is too long, 400 for everything else.
  public func zoomRequest(path: String) throws(RequestError) -> ZoomRequest? {
    guard let rest = try? configuration.relative(path) else { return nil }
    let isIIIF = rest.hasPrefix(Self.iiif)
    guard isIIIF || rest.hasPrefix(Self.deepZoom) else { return nil }
    guard path.utf8.count <= configuration.maxLength else {
      throw RequestError(414, "the URL is longer than \(configuration.maxLength) bytes")
    }
    guard path.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw RequestError(400, "the URL has characters that must be percent-encoded")
    }
    let parts = rest.dropFirst(isIIIF ? Self.iiif.count : Self.deepZoom.count)
      .split(separator: "/", omittingEmptySubsequences: false)
    let (identifier, kind) = try isIIIF ? iiif(parts) : deepZoom(parts)
    return ZoomRequest(kind: kind, identifier: String(identifier), source: try source(identifier))
  }

  /// Returns whether a path without a prefix belongs to viewers that zoom.
  package static func isZoomForm(_ path: String) -> Bool { path.hasPrefix(iiif) || path.hasPrefix(deepZoom) }

  /// Returns the path of a viewer that zooms with a signature in its identifier; `nil` for every other path.
  static func signing(zoom path: String, by key: SigningKey) -> String? {
    guard let start = [iiif, deepZoom].first(where: { path.hasPrefix($0) }) else { return nil }
    let rest = path.dropFirst(start.count)
    let component = rest.prefix { $0 != "/" }
    let ending = start == iiif ? nil : [".dzi", "_files"].first { component.hasSuffix($0) }
    guard let source = PercentEncoding.decode(component.dropLast(ending?.count ?? 0)) else { return nil }
    return "\(start)\(key.signature(of: "/zoom/\(source)"))%2C\(rest)"
  }

  private func source(_ identifier: Substring) throws(RequestError) -> ThumbnailRequest.Source {
    guard !identifier.isEmpty else { throw RequestError(404, "the identifier is missing") }
    guard var text = PercentEncoding.decode(identifier) else {
      throw RequestError(400, "the identifier has a % that encodes nothing; a % is written %25")
    }
    if !configuration.keys.isEmpty {
      // A source that is not signed may have a comma, too.
      let parts = text.split(separator: ",", maxSplits: 1)
      let isSigned = parts.count == 2 && parts[0].utf8.allSatisfy { Self.signatureBytes.contains($0) }
      if isSigned || !configuration.allowsUnsigned {
        let source = parts.count == 2 ? String(parts[1]) : text
        try verify(parts.count == 2 ? String(parts[0]) : "", of: "/zoom/\(source)")
        text = source
      }
    }
    return try configuration.sources.source(text)
  }

  private static let signatureBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  // MARK: IIIF

  /// Reads `{identifier}`, `{identifier}/info.json` or `{identifier}/{region}/{size}/{rotation}/{quality}.{format}`.
  private func iiif(_ parts: [Substring]) throws(RequestError) -> (Substring, ZoomRequest.Kind) {
    if parts.count == 1 || parts.count == 2 && parts[1].isEmpty { return (parts[0], .base) }
    if parts.count == 2, parts[1] == "info.json" { return (parts[0], .info) }
    guard parts.count == 5 else {
      throw RequestError(
        404,
        "a path is /iiif/3/identifier/info.json or /iiif/3/identifier/region/size/rotation/quality.format",
      )
    }
    let part = try ZoomRequest.Part(region: parts[1], size: parts[2])
    try checkRotation(parts[3])
    let names = parts[4].split(separator: ".", omittingEmptySubsequences: false)
    guard names.count == 2 else { throw RequestError(400, "the end of the path is quality.format, as default.jpg") }
    switch names[0] {
    case "default": break
    case "color", "gray", "bitonal": throw RequestError(501, "the only quality is default")
    default: throw RequestError(400, "the quality '\(names[0])' is none of default, color, gray and bitonal")
    }
    return (parts[0], .image(part, try format(names[1])))
  }

  private func checkRotation(_ text: Substring) throws(RequestError) {
    guard text != "0" else { return }
    let number = text.hasPrefix("!") ? text.dropFirst() : text
    guard let degrees = Double(number), (0...360).contains(degrees) else {
      throw RequestError(400, "the rotation '\(text)' is not a number from 0 to 360")
    }
    throw RequestError(501, "rotation is not supported")
  }

  /// Returns the format of an extension; the server must write it.
  private func format(_ name: Substring) throws(RequestError) -> ImageFormat {
    let formats = [ImageFormat.jpeg, .png, .webp].filter { configuration.formats.contains($0) }
    if let format = formats.first(where: { $0.fileExtension == name }) { return format }
    let names = formats.map(\.fileExtension).joined(separator: ", ")
    guard ["jpg", "tif", "png", "gif", "jp2", "pdf", "webp"].contains(name) else {
      throw RequestError(400, "the format '\(name)' is none of \(names)")
    }
    throw RequestError(501, "the formats are \(names)")
  }

  // MARK: Deep Zoom

  /// Reads `{identifier}.dzi` or `{identifier}_files/{level}/{x}_{y}.{format}`.
  private func deepZoom(_ parts: [Substring]) throws(RequestError) -> (Substring, ZoomRequest.Kind) {
    if parts.count == 1, parts[0].hasSuffix(".dzi") { return (parts[0].dropLast(4), .descriptor) }
    guard parts.count == 3, parts[0].hasSuffix("_files") else {
      throw RequestError(404, "a path is /dzi/identifier.dzi or /dzi/identifier_files/level/x_y.format")
    }
    let names = parts[2].split(separator: ".", omittingEmptySubsequences: false)
    let places = (names.first ?? "").split(separator: "_", omittingEmptySubsequences: false)
    let numbers = ([parts[1]] + places).map { text in
      text.utf8.allSatisfy { (48...57).contains($0) } && text.utf8.count < 10 ? Int(text) : nil
    }
    guard names.count == 2, numbers.count == 3, let level = numbers[0], let column = numbers[1], let row = numbers[2]
    else { throw RequestError(400, "a tile is level/x_y.format, as 11/0_0.jpg") }
    return (parts[0].dropLast(6), .tile(level: level, column: column, row: row, try format(names[1])))
  }
}
