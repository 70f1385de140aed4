/// What of an image fetched from an address is kept in the cache of bytes.
public enum StoragePolicy: String, Sendable, Hashable, CaseIterable {
  /// The bytes as they came.
  case original
  /// The image as it is shown: resized and processed; the bytes as they came only where nothing is done to them.
  ///
  /// Another size of it is fetched anew.
  case finished
  /// The bytes as they came, and the image as it is shown where that spares work: where it is processed, or made of a
  /// million pixels or more and at least four times as many as it has.
  case automatic
  /// The bytes as they came, and the image as it is shown where anything is done to it.
  case both

  /// Whether the bytes are kept of an image that is changed in some way or not.
  func keepsOriginal(isChanged: Bool) -> Bool { self != .finished || !isChanged }

  /// Whether an image is kept as it is shown.
  func keepsFinished(_ image: CachedImage, isProcessed: Bool, isResized: Bool) -> Bool {
    guard isProcessed || isResized, image.validity.isKept, image.contentID != .none else { return false }
    switch self {
    case .original: return false
    case .finished, .both: return true
    case .automatic:
      let info = image.response.info
      let pixels = info.width * info.height
      return isProcessed || pixels >= max(1_000_000, 4 * image.image.width * image.image.height)
    }
  }
}
