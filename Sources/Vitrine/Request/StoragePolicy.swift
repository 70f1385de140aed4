/// The forms in which a fetched image is stored in the data cache.
public enum StoragePolicy: String, Sendable, Hashable, CaseIterable {
  /// The original: the bytes as they came.
  case original
  /// The finished image, resized and processed; the original only if no such work is done.
  ///
  /// Another size of the image is fetched again.
  case finished
  /// The original, and the finished image if storing it saves work: if it is processed, or made from a million pixels
  /// or more and at least four times its own number.
  ///
  /// This is the default. If a request of `DecodeQuality.fast` stopped its download early, the beginning is stored
  /// instead of the original; a request that needs more fetches the rest.
  case automatic
  /// The original, and the finished image if it is resized or processed.
  case both

  /// A Boolean value that indicates whether the original is stored even if no image needs all of it.
  var keepsEveryOriginal: Bool { self == .original || self == .both }

  /// Returns `true` if an image's original is stored; `isChanged` if the image is resized or processed.
  func keepsOriginal(isChanged: Bool) -> Bool { self != .finished || !isChanged }
}
