import VitrineRuntime

/// A beginning of sources, and the text that replaces it.
///
/// ```swift
/// try SourceReplacement("photos://=https://images.example.org/uploads/")
/// ```
public struct SourceReplacement: Sendable, Hashable, CustomStringConvertible {
  private let pattern: [UInt8]
  private let replacement: String

  /// The text that it was made of.
  public let description: String

  /// Reads `pattern=replacement`; a `*` in the pattern stands for any characters but a slash.
  ///
  /// - Throws: ``ConfigurationError`` if the text is none.
  public init(_ text: String) throws(ConfigurationError) {
    let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2, !pair[0].isEmpty else { throw ConfigurationError("'\(text)' is not pattern=replacement") }
    (pattern, replacement, description) = (Array(pair[0].utf8), String(pair[1]), text)
  }

  /// Returns a source with its beginning replaced, as far as the pattern fits; the same source if it does not.
  ///
  /// Complexity: O(length of the pattern * length of the source).
  func applied(to source: String) -> String {
    let text = Array(source.utf8)
    // The numbers of characters that the pattern read so far may stand for.
    var ends: Set<Int> = [0]
    for byte in pattern {
      if byte == UInt8(ascii: "*") {
        for start in ends.sorted() {
          var end = start
          while end < text.count, text[end] != UInt8(ascii: "/"), ends.insert(end + 1).inserted { end += 1 }
        }
      } else {
        ends = Set(ends.compactMap { $0 < text.count && text[$0] == byte ? $0 + 1 : nil })
      }
    }
    guard let end = ends.max() else { return source }
    return replacement + String(decoding: text[end...], as: UTF8.self)
  }
}
