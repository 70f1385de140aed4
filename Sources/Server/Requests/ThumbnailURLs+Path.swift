import VitrineHTTP
import VitrineRuntime

// The form with everything in the path.
extension ThumbnailURLs {
  func read(path: String) throws(RequestError) -> OptionDraft {
    var draft = draft()
    var rest = path[...]
    if rest.hasPrefix("/info/") {
      draft.isInfo = true
      rest = rest.dropFirst("/info".count)
    }
    let parts = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty, !parts[1].isEmpty else {
      throw RequestError(404, "a path is /signature/options/plain/source or /signature/options/base64")
    }
    let signed = Self.withWholeScheme("/\(parts[2])")
    try verify(parts[1], of: (draft.isInfo ? "/info" : "") + signed)
    try draft.applyDefaultPreset()
    var segments = signed.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...]
    try readOptions(&segments, &draft)
    while segments.first.map({ $0 == URLOption.separator }) ?? false {
      segments.removeFirst()
      try draft.beginPipeline()
      try readOptions(&segments, &draft)
    }
    try readSource(segments, &draft)
    return draft
  }

  /// Reads the options of one pipeline, up to the next one or the source.
  private func readOptions(
    _ segments: inout ArraySlice<Substring>,
    _ draft: inout OptionDraft,
  ) throws(RequestError) {
    if configuration.allowsOnlyPresets {
      guard let names = segments.popFirst() else { throw RequestError(404, "the preset is missing") }
      for name in URLOption.pieces(names) {
        try draft.apply(preset: try URLOption.decoded(name, in: "preset"))
      }
    } else {
      while let option = try segments.first.flatMap({ part throws(RequestError) in try URLOption(segment: part) }) {
        try draft.count()
        try draft.apply(option)
        segments = segments.dropFirst()
      }
    }
  }

  private func readSource(_ segments: ArraySlice<Substring>, _ draft: inout OptionDraft) throws(RequestError) {
    let text: String
    let format: Substring?
    switch segments.first {
    case "plain": (text, format) = try Self.plainSource(segments.dropFirst().joined(separator: "/")[...])
    case "enc":
      guard let key = configuration.sourceKey else {
        throw RequestError(400, "the server has no key for encrypted sources")
      }
      guard let read = Self.source(inBase64: segments.dropFirst(), { key.decrypt($0) }) else {
        throw RequestError(400, "the encrypted source cannot be read")
      }
      (text, format) = read
    case nil, "": throw RequestError(400, "the source is missing")
    case let first?:
      guard let read = Self.source(inBase64: segments, { $0 }) else {
        // Most likely the name of an option without its values.
        throw RequestError(400, "'\(first)' is neither an option, nor plain, nor a source in base64")
      }
      (text, format) = read
    }
    if let format, !format.isEmpty { try draft.apply(URLOption(name: "format", values: [String(format)])) }
    draft.source = try configuration.sources.source(text)
  }

  /// Reads what follows `plain/`.
  static func plainSource(_ text: Substring) throws(RequestError) -> (source: String, format: Substring?) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2 else { throw RequestError(400, "an @ in the source is written %40") }
    guard let source = PercentEncoding.decode(parts.first ?? "") else {
      throw RequestError(400, "the source has a % that encodes nothing; a % is written %25")
    }
    return (source, parts.count == 2 ? parts[1] : nil)
  }

  /// Reads a source in Base64, of which proxies and people may have made several segments.
  private static func source(
    inBase64 segments: ArraySlice<Substring>,
    _ convert: ([UInt8]) -> [UInt8]?,
  ) -> (source: String, format: Substring?)? {
    let parts = segments.joined().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let bytes = Base64URL.decode(padded: parts.first ?? "").flatMap(convert),
      !bytes.contains(0),
      let source = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return (source, parts.count == 2 ? parts[1].prefix(20) : nil)
  }

  /// Returns the path with both slashes after the scheme of a plain source, of which proxies drop one.
  static func withWholeScheme(_ path: String) -> String {
    guard let start = path.firstRange(of: "/plain/")?.upperBound else { return path }
    let source = path[start...]
    guard let colon = source.firstIndex(where: { !($0.isASCII && ($0.isLetter || $0.isNumber)) }), colon != start,
      source[colon...].hasPrefix(":/"), !source[colon...].hasPrefix("://")
    else { return path }
    let slashes = source[..<colon] == "local" ? "//" : "/"
    return path[...colon] + slashes + path[path.index(after: colon)...]
  }
}
