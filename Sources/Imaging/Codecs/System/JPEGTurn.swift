import CVitrineCodecs
package import VitrineRuntime

/// A turn of a picture that its file can take without loss: a transposition, and mirrors after it.
package struct JPEGTurn: Sendable, Equatable {
  /// True if rows become columns.
  private(set) var transposes: Bool
  /// True if the picture is mirrored left to right, and top to bottom, after that.
  private(set) var mirrorsX, mirrorsY: Bool

  /// Makes the turn that shows a stored picture upright, and then turns it clockwise by quarters.
  package init(_ orientation: Orientation, thenQuarters quarters: Int = 0) {
    // The place of the first pixel, and whether rows stay rows, tell the turn.
    let first = orientation.upright(x: 0, y: 0, width: 2, height: 2)
    (transposes, mirrorsX, mirrorsY) = (orientation.swapsAxes, first.x > 0, first.y > 0)
    for _ in 0..<(quarters % 4 + 4) % 4 { (transposes, mirrorsX, mirrorsY) = (!transposes, !mirrorsY, mirrorsX) }
  }

  /// Turns a JPEG by its coefficients, with all its metadata; its orientation is upright then.
  ///
  /// Blocks for as long as reading and writing its entropy-coded data takes, and holds two bytes a sample twice.
  ///
  /// - Parameters:
  ///   - data: The file.
  ///   - limits: The limits; a picture of more pixels than may be held is refused. Defaults to `DecodeLimits()`.
  /// - Returns: The turned file; `nil` if an edge that is mirrored is not on the border of a unit of blocks.
  /// - Throws: ``ImageError`` if the file is damaged or too large, or has further pictures behind the first (CIPA DC-007),
  ///   such as a gain map, which would be lost.
  package func turned(_ data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> Data? {
    let info = try DecoderRegistry.standard.info(of: data, limits: limits)
    guard info.format == .jpeg, info.width.multipliedSaturating(by: info.height) <= limits.heldPixelCount else {
      throw ImageError(.overLimit, format: info.format, limit: .heldPixelCount, "too large to be turned")
    }
    let hasMore = data.reading {
      JPEGMetadata.segments($0).contains { $0.number == 2 && $0.body.starts(with: "MPF\0") }
    }
    guard !hasMore else {
      throw ImageError(.unsupported, format: .jpeg, "unsupported: a second picture in the file would be lost")
    }
    var out = unsafe vitrine_encoded()
    let (transposes, mirrorsX, mirrorsY): (Int32, Int32, Int32) = (
      transposes ? 1 : 0, mirrorsX ? 1 : 0, mirrorsY ? 1 : 0,
    )
    // The shim reads the bytes within the call.
    let status = data.reading { bytes in
      unsafe bytes.bytes.withUnsafeBufferPointer {
        unsafe vitrine_jpeg_turn($0.baseAddress, $0.count, transposes, mirrorsX, mirrorsY, &out)
      }
    }
    if status == VITRINE_JPEG_NOT_WHOLE { return nil }
    guard status == VITRINE_OK, let bytes = unsafe out.bytes else {
      let message = unsafe withUnsafeBytes(of: out.message) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ImageError(.corrupt, format: .jpeg, "corrupt: \(message)")
    }
    // The shim passes on the bytes, which the data frees.
    return unsafe Data(bytesNoCopy: bytes, count: Int(out.length), deallocator: .free)
  }
}
