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
    try readSource(segments, &draft)
    return draft
  }

  private func readSource(_ segments: ArraySlice<Substring>, _ draft: inout OptionDraft) throws(RequestError) {
    let text: String
    let format: Substring?
    switch segments.first {
    case "plain":
      let parts = segments.dropFirst().joined(separator: "/").split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count <= 2 else { throw RequestError(400, "an @ in the source is written %40") }
      guard let source = PercentEncoding.decode(parts.first ?? "") else {
        throw RequestError(400, "the source has a % that encodes nothing; a % is written %25")
      }
      (text, format) = (source, parts.count == 2 ? parts[1] : nil)
    case "enc": throw RequestError(400, "encrypted sources are not supported")
    case nil, "": throw RequestError(400, "the source is missing")
    case let first?:
      let parts = segments.joined().split(separator: ".", omittingEmptySubsequences: false)
      let digits = (parts.first ?? "").reversed().drop { $0 == "=" }.reversed()
      guard parts.count <= 2, let bytes = Base64URL.decode(String(digits).utf8),
        !bytes.contains(0), let source = String(validating: bytes, as: UTF8.self)
      else {
        // Most likely the name of an option without its values.
        throw RequestError(400, "'\(first)' is neither an option, nor plain, nor a source in base64")
      }
      (text, format) = (source, parts.count == 2 ? parts[1].prefix(20) : nil)
    }
    if let format, !format.isEmpty { try draft.apply(URLOption(name: "format", values: [String(format)])) }
    draft.source = try configuration.sources.source(text)
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
