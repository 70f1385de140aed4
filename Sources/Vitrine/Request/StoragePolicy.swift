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
  ///
  /// The default. Where a request of `DecodeQuality.fast` is content with the beginning of a file, it is that, and the
  /// image; a request that needs more has the rest fetched.
  case automatic
  /// The bytes as they came, and the image as it is shown where anything is done to it.
  case both

  /// Whether the bytes are wanted although no image needs all of them.
  var keepsEveryOriginal: Bool { self == .original || self == .both }

  /// Whether the bytes are kept of an image that is changed in some way or not.
  func keepsOriginal(isChanged: Bool) -> Bool { self != .finished || !isChanged }

  /// Whether an image is kept as it is shown.
  func keepsFinished(_ image: LoadedImage, isProcessed: Bool, isResized: Bool) -> Bool {
    guard isProcessed || isResized, image.validity.isKept, image.contentID != .none else { return false }
    switch self {
    case .original: return false
    case .finished, .both: return true
    case .automatic:
      let (info, bitmap) = (image.info, image.container.bitmap)
      let pixels = info.width * info.height
      // Of what was made of a beginning nothing else is there that would spare its server a request.
      guard !isProcessed, !image.contentID.isOfBeginning else { return true }
      return pixels >= max(1_000_000, 4 * bitmap.width * bitmap.height)
    }
  }
}
