import VitrineHTTP
import VitrineRuntime

// The form with everything in the query, for people.
extension ThumbnailURLs {
  func read(path: String, query: String) throws(RequestError) -> OptionDraft {
    var draft = draft()
    draft.isInfo = path.hasPrefix("/info")
    guard !query.isEmpty else { throw RequestError(404, "nothing is here: the source is missing") }
    var pairs = query.split(separator: "&", omittingEmptySubsequences: false)
    var signature = Substring()
    if let last = pairs.last, last.hasPrefix("sig=") {
      signature = last.dropFirst("sig=".count)
      pairs.removeLast()
    }
    try verify(signature, of: Self.signedText(path: path, query: pairs.joined(separator: "&")))
    try draft.applyDefaultPreset()
    var names: Set<String> = []
    var source: String?
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = PercentEncoding.decode(parts[0]) else {
        throw RequestError(400, "'\(pair.prefix(40))' is not name=value")
      }
      guard names.insert(name).inserted else { throw RequestError(400, "'\(name)' is there twice") }
      // A plus is a space only in forms, and part of many URLs.
      switch name {
      case "src":
        guard let text = PercentEncoding.decode(parts[1]) else {
          throw RequestError(400, "src has a % that encodes nothing; a % is written %25")
        }
        source = text
      case "sig": throw RequestError(400, "sig must be last")
      default:
        try draft.count()
        let values = URLOption.pieces(parts[1])
        var texts: [String] = []
        for value in values { texts.append(try URLOption.decoded(value, in: name)) }
        let option = URLOption(name: Self.names[name] ?? name, values: texts)
        guard !configuration.allowsOnlyPresets || Self.besidePresets.contains(option.name) else {
          throw RequestError(400, "only presets are allowed, not the option '\(name)'")
        }
        try draft.apply(option)
      }
    }
    draft.source = try configuration.sources.source(source ?? "")
    return draft
  }

  /// Returns the text that is signed of a query without its signature.
  static func signedText(path: String, query: String) -> String {
    "\(path.hasPrefix("/info") ? "/info" : "/")?\(query)"
  }

  /// The options that are allowed where only presets are; a path names a format behind the source.
  private static let besidePresets = ["preset", "pr", "format", "f", "ext"]

  /// Names that people expect.
  private static let names = ["fit": "resizing_type"]
}
