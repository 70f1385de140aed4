package import VitrineRuntime

/// A library of a codec that is opened when it is first needed.
///
/// Linked, the libraries of all codecs would cost each start of a program 17 ms.
package struct CodecLibrary: Sendable {
  private let format: ImageFormat
  /// The reason why it is not open; `nil` if it is.
  package let failure: LibraryFailure?

  /// Makes a library that was opened, or that could not be.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - failure: The reason why the library cannot be opened, as a C string; `nil` if it is open.
  package init(of format: ImageFormat, failure: UnsafePointer<CChar>?) {
    self.format = format
    // The caller's string ends in a zero.
    self.failure = unsafe failure.map { unsafe LibraryFailure(String(cString: $0)) }
  }

  /// Returns if the library is open.
  ///
  /// - Parameter code: The kind of the error if it is not.
  /// - Throws: An ``ImageError`` that says why it is not.
  package func check(_ code: ImageError.Code = .unsupported) throws(ImageError) {
    guard let failure else { return }
    throw ImageError(code, format: format, "\(format) needs a library that cannot be opened: \(failure)")
  }
}
