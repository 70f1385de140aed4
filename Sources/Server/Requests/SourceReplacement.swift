import VitrineRuntime

/// A beginning of sources, and the text that replaces it.
///
/// ```swift
/// try SourceReplacement("photos://*/=https://images.example.org/${1}/uploads/")
/// ```
public struct SourceReplacement: Sendable, Hashable, CustomStringConvertible {
  private let pattern: [UInt8]
  private let replacement: String

  /// The text that it was made of.
  public let description: String

  /// Reads `pattern=replacement`; a `*` in the pattern stands for any characters but a slash, which are `${1}` for the first
  /// `*` in the replacement, `${2}` for the second, and so on.
  ///
  /// - Throws: ``ConfigurationError`` if the text is none.
  public init(_ text: String) throws(ConfigurationError) {
    let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2, !pair[0].isEmpty else { throw ConfigurationError("'\(text)' is not pattern=replacement") }
    (pattern, replacement, description) = (Array(pair[0].utf8), String(pair[1]), text)
  }

  /// Returns a source with its beginning replaced, where the pattern fits; the same source if it does not.
  ///
  /// Each `*` stands for as much as it can, the first one before the second.
  ///
  /// Complexity: O(length of the pattern * length of the source).
  func applied(to source: String) -> String {
    let text = Array(source.utf8)
    var match = Match(pattern, text)
    guard let end = match.end(0, 0) else { return source }
    // In one pass, since the text of a star may look like the name of another.
    let beginning = replacement.replacing(/\$\{([0-9]+)\}/) { name in
      let index = (Int(name.output.1) ?? 0) - 1
      return match.ranges.indices.contains(index) ? String(decoding: text[match.ranges[index]], as: UTF8.self) : ""
    }
    return beginning + String(decoding: text[end...], as: UTF8.self)
  }

  /// The search for the place in a text where a pattern ends.
  private struct Match {
    private let pattern: [UInt8]
    private let text: [UInt8]
    /// The place of the next slash, or the end, for each place in the text.
    private let slashes: [Int]
    /// The first end of a star that led to no match, by the star's place and the last end that it may have; no end between
    /// did either.
    private var tried: [Int: Int] = [:]
    /// The parts of the text for which the stars stand.
    var ranges: [Range<Int>] = []

    init(_ pattern: [UInt8], _ text: [UInt8]) {
      (self.pattern, self.text) = (pattern, text)
      var (slashes, next) = (Array(repeating: text.count, count: text.count + 1), text.count)
      for place in text.indices.reversed() {
        if text[place] == UInt8(ascii: "/") { next = place }
        slashes[place] = next
      }
      self.slashes = slashes
    }

    mutating func end(_ place: Int, _ start: Int) -> Int? {
      var (place, start) = (place, start)
      while place < pattern.count, pattern[place] != UInt8(ascii: "*") {
        guard start < text.count, text[start] == pattern[place] else { return nil }
        (place, start) = (place + 1, start + 1)
      }
      guard place < pattern.count else { return start }
      let most = slashes[start]
      let key = place * slashes.count + most
      for stop in (start..<max(start, tried[key] ?? most + 1)).reversed() {
        tried[key] = stop
        ranges.append(start..<stop)
        if let end = end(place + 1, stop) { return end }
        ranges.removeLast()
      }
      return nil
    }
  }
}
