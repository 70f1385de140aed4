/// A decoder that does better with the beginning of a file, when more is to come, than to open it as one cut short.
package protocol PrefixDecoding: ImageDecoder {
  /// Opens what is there: rows that end early, or all of them coarsely with their `damage` saying so.
  ///
  /// - Parameters:
  ///   - bytes: The file's first bytes, up to a place where it is worth looking; they outlive the rows.
  ///   - request: For frame 0, made of what ``ImageDecoder/info(of:format:limits:)`` said of these bytes.
  /// - Returns: The rows.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`.
  func openPrefix(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> any RowSource
}
