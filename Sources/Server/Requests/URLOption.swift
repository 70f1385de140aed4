import VitrineHTTP

/// An option as a URL names it: a name and values.
struct URLOption: Sendable, Hashable {
  let name: String
  let values: [String]

  init(name: String, values: [String]) { (self.name, self.values) = (name, values) }

  /// Reads a segment of a path; `nil` if it is none, since it has no values.
  init?(segment: Substring) throws(RequestError) {
    let pieces = Self.pieces(segment)
    guard pieces.count > 1 else { return nil }
    var texts: [String] = []
    for piece in pieces { texts.append(try Self.decoded(piece, in: texts.first ?? "options")) }
    self.init(name: texts[0], values: Array(texts.dropFirst()))
  }

  /// The segment between the options of two pipelines.
  static let separator = "-"

  /// Reads the options of a preset, by pipelines.
  static func lists(_ text: String) throws(RequestError) -> [[URLOption]] {
    var lists: [[URLOption]] = [[]]
    for segment in text.split(separator: "/") {
      guard segment != separator else {
        lists.append([])
        continue
      }
      guard let option = try URLOption(segment: segment) else {
        throw RequestError(400, "'\(segment)' is not an option with a value")
      }
      lists[lists.count - 1].append(option)
    }
    return lists
  }

  /// Returns the parts between colons, which some clients encode.
  static func pieces(_ text: Substring) -> [Substring] {
    let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
    guard pieces.count < 2, text.contains("%3") else { return pieces }
    return Substring(text.replacing("%3A", with: ":").replacing("%3a", with: ":"))
      .split(separator: ":", omittingEmptySubsequences: false)
  }

  static func decoded(_ text: Substring, in name: String) throws(RequestError) -> String {
    guard let decoded = PercentEncoding.decode(text) else {
      throw RequestError(400, "the value of '\(name)' is not percent-encoded text")
    }
    return decoded
  }
}
