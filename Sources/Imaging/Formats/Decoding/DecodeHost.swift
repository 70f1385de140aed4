/// The program on whose behalf a process decodes: it permits the work, and provides the memory of the result.
package protocol DecodeHost: AnyObject, Sendable {
  /// A Boolean value that indicates whether the bytes of the file are held in memory.
  var holdsInput: Bool { get }

  /// Asks for permission to decode an image; blocks until there is an answer.
  ///
  /// It is called when the header has been read and before memory for pixels is allocated.
  ///
  /// - Parameters:
  ///   - info: The facts of the image, or of the requested frame.
  ///   - memory: The bytes that the decode will hold.
  ///   - output: The bytes of the pixels of the result, which are among them.
  /// - Returns: `true` if the program had to wait, so that the time of the decode begins now.
  /// - Throws: ``ImageError``: `.cancelled` if the program does not permit it.
  func permit(_ info: ImageInfo, memory: Int, output: Int) throws(ImageError) -> Bool

  /// Returns memory for the pixels of the result, which must stay until the program has them; `nil` to use other
  /// memory.
  func memory(byteCount: Int) -> UnsafeMutableRawBufferPointer?
}

extension DecodeHost {
  /// Returns storage for the pixels of the result; `nil` to use other memory.
  func storage(byteCount: Int) -> PixelStorage? {
    guard let memory = unsafe memory(byteCount: byteCount) else { return nil }
    precondition(memory.count == byteCount)
    return unsafe PixelStorage(borrowing: memory)
  }
}
