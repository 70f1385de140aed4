/// The image types that an `Accept` header names (RFC 9110, section 12.5.1).
package struct AcceptedTypes: Sendable, Hashable {
  /// The weights by type, in thousandths.
  private var weights: [String: Int] = [:]

  /// Reads a header; items that are none are ignored.
  package init(_ header: String) {
    // More than any client sends.
    for item in header.utf8.prefix(4096).split(separator: UInt8(ascii: ",")) {
      let parts = String(decoding: item, as: UTF8.self).lowercased().split(separator: ";")
        .map { part in part.filter { !$0.isWhitespace } }
      guard let type = parts.first, type.hasPrefix("image/") else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.weight($0.dropFirst(2)) } ?? 1000
      weights[type] = weight
    }
  }

  /// Returns the weight of a media type in lower case, in thousandths; 0 if the header does not name it.
  ///
  /// `image/*` and `*/*` do not count: browsers send them whatever they can show.
  package func weight(of type: String) -> Int { weights[type] ?? 0 }

  /// Reads `0`, `1`, `0.5` or `0.125`; 0 for anything else.
  private static func weight(_ text: Substring) -> Int {
    let digits = Array(text.utf8)
    guard let first = digits.first, first == 48 || first == 49 else { return 0 }
    guard digits.count > 1 else { return Int(first - 48) * 1000 }
    let places = digits.dropFirst(2)
    guard digits[1] == UInt8(ascii: "."), places.count <= 3, places.allSatisfy({ (48...57).contains($0) }) else {
      return 0
    }
    let padded = places + Array(repeating: 48, count: 3 - places.count)
    return min(1000, padded.reduce(Int(first - 48)) { $0 * 10 + Int($1 - 48) })
  }
}
