/// The frames of one image, of which each costs as much as any other if they are read in order.
///
/// It keeps the canvas, or the state of a codec, on which the next frame builds. One thread at a time uses it, and the
/// bytes of the image stay in place as long as it lives.
package protocol FrameReader: AnyObject {
  /// Opens a frame, composed as a viewer shows it; any frame may follow any other.
  ///
  /// The rows are valid until the next call.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.overLimit`, `.cancelled`, `.outOfTime`.
  func open(_ request: RowRequest) throws(ImageError) -> any RowSource

  /// Goes on with more bytes of the same file, which is still loading, and with the canvas or codec as it is.
  ///
  /// - Returns: `true` if the bytes have taken the place of the former ones; `false` if the reader must be made anew, which
  ///   is the default.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`.
  func extend(to bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> Bool
}

extension FrameReader {
  package func extend(to bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> Bool { false }
}

/// A decoder whose frames build on one another.
package protocol FrameDecoding: ImageDecoder {
  /// Opens the frames of an animation.
  ///
  /// - Parameters:
  ///   - bytes: The file, which stays in place for the life of the reader.
  ///   - info: The result of ``ImageDecoder/info(of:format:limits:)``, which is within the limits.
  ///   - limits: The limits.
  /// - Returns: The frames; `nil` for an image whose frames do not build on one another.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.overLimit`.
  func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)?
}
