package import VitrineRuntime

/// The size and the texts of a PNG file, read without inflating any of it.
package struct PNGText: Sendable, Equatable {
  package let width: Int
  package let height: Int
  /// The contents of the `tEXt` chunks by their keywords; of equal keywords, the first.
  package let fields: [String: String]

  /// Reads a file; returns `nil` if it is no PNG, or has not all of its chunks to the last one.
  package init?(_ data: Data) {
    guard let parts = data.reading(Self.parts) else { return nil }
    (width, height, fields) = parts
  }

  private static func parts(of bytes: ByteReader) -> (Int, Int, [String: String])? {
    guard bytes.starts(with: PNGHeader.signature), let header = try? PNGHeader(bytes) else { return nil }
    var fields: [String: String] = [:]
    for chunk in PNGHeader.chunks(bytes) {
      guard chunk.isWhole else { return nil }
      switch chunk.type {
      case PNGHeader.Chunk.tEXt:
        if let (keyword, text) = field(chunk.body), fields[keyword] == nil { fields[keyword] = text }
      case PNGHeader.Chunk.IEND: return (header.width, header.height, fields)
      default: break
      }
    }
    return nil
  }

  /// Returns the keyword and the text, which are separated by a zero and encoded in Latin-1 (PNG, third edition, 11.3.3).
  private static func field(_ body: ByteReader) -> (String, String)? {
    guard let end = (0..<body.count).first(where: { body.byte(at: $0) == 0 }) else { return nil }
    return (latin1(body.slice(0, end)), latin1(body.slice(end + 1, body.count)))
  }

  private static func latin1(_ bytes: ByteReader) -> String {
    String(String.UnicodeScalarView((0..<bytes.count).compactMap { bytes.byte(at: $0).map { Unicode.Scalar($0) } }))
  }
}
