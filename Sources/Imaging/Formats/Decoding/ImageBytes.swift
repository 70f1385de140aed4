package import VitrineRuntime

/// An encoded image: bytes in memory, or a large file that the process that decodes it reads in part.
package enum ImageBytes: Sendable {
  case data(Data)
  case file(LargeFile)

  /// Opens a file, and reads it unless it is large.
  ///
  /// Blocks.
  package init(ofFileAt path: ByteString) throws(FileError) {
    self = if let file = LargeFile(path) { .file(file) } else { .data(try FileContents.at(path)) }
  }

  /// The size in bytes.
  package var byteCount: Int {
    switch self {
    case .data(let data): data.count
    case .file(let file): file.byteCount
    }
  }

  /// The bytes in memory, or the beginning of the file.
  package var beginning: Data {
    switch self {
    case .data(let data): data
    case .file(let file): file.beginning
    }
  }

  /// Returns all bytes; blocks while it reads a file.
  ///
  /// - Parameter limit: The size above which a file is not read. A sparse file costs its author nothing. Defaults to none.
  /// - Returns: The bytes.
  /// - Throws: ``ImageError``: `.overLimit`, or `.decoderFailed` if the file cannot be read.
  package func whole(limit: Int = .max) throws(ImageError) -> Data {
    guard case .file(let file) = self else { return beginning }
    guard file.byteCount <= limit else {
      let detail = "a file of \(file.byteCount / 1_000_000) MB, over the limit of \(limit / 1_000_000) MB"
      throw ImageError(.overLimit, limit: .memoryByteCount, detail)
    }
    do throws(FileError) {
      return try file.contents()
    } catch {
      throw ImageError(.decoderFailed, error.description)
    }
  }
}
