/// A decoder that decodes the prefix of a file that is still loading better than a truncated file.
package protocol PrefixDecoding: ImageDecoder {
  /// Opens a prefix: rows that end early, or all of them coarsely, reported in their `damage`.
  ///
  /// - Parameters:
  ///   - bytes: The file's first bytes, up to a useful position. They must outlive the rows.
  ///   - request: A request for frame 0, made from ``ImageDecoder/info(of:format:limits:)`` of these bytes.
  /// - Returns: The rows.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`.
  func openPrefix(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> any RowSource
}
