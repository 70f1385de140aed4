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
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let places = parts.count > 1 ? parts[1] : ""
    guard parts[0] == "0" || parts[0] == "1", places.utf8.count <= 3,
      let thousandths = (parts[0] + places + String(repeating: "0", count: 3 - places.utf8.count)).digits
    else { return 0 }
    return min(1000, thousandths)
  }
}
