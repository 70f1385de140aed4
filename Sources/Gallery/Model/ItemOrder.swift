/// The order of a gallery's pictures.
package enum ItemOrder: String, Sendable, CaseIterable, Codable {
  /// By name, from A to Z.
  case name
  /// By the time of the last change, the newest first.
  case newest
  /// By the time at which a photograph was taken, the newest first; other pictures by their last change.
  case taken
  /// By the number of bytes, the largest first.
  case largest

  /// Returns `true` if one picture stands before another; no two have the same place.
  func precedes(_ one: GalleryItem, _ other: GalleryItem) -> Bool {
    switch self {
    case .name: break
    case .newest:
      let (left, right) = (one.modified ?? 0, other.modified ?? 0)
      if left != right { return left > right }
    case .taken:
      let (left, right) = (one.taken ?? one.modified ?? 0, other.taken ?? other.modified ?? 0)
      if left != right { return left > right }
    case .largest:
      let (left, right) = (one.byteCount ?? 0, other.byteCount ?? 0)
      if left != right { return left > right }
    }
    if one.nameKey != other.nameKey { return one.nameKey < other.nameKey }
    return one.id < other.id
  }
}
