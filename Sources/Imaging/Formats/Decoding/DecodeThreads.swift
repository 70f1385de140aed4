import VitrineRuntime

/// The threads that a codec may use for one image.
package enum DecodeThreads {
  /// The maximum number; more gain little, and each takes memory.
  package static let limit = 8
  /// The memory that a further thread takes, in bytes: its stack as far as it is used, and the blocks that it decodes.
  package static let byteCount = 8 << 20
  /// The number of pixels from which further threads save more than starting them costs.
  private static let leastPixelCount = 1 << 20

  /// Returns the maximum number of threads worth using for an image.
  static func limit(for info: ImageInfo) -> Int {
    let isSmall = info.storedWidth.multipliedSaturating(by: info.storedHeight) < leastPixelCount
    return isSmall ? 1 : info.format.row.threads
  }
}
