import CVitrineSVG
import VitrineImaging
import VitrineRuntime

/// A parsed drawing.
@safe
final class SVGDocument {
  private static let messageSize = 512

  // Owned: made in init, freed in deinit, used by one thread at a time.
  private let document: OpaquePointer

  init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
    try SVGDecoder.library.check()
    var message = [CChar](repeating: 0, count: Self.messageSize)
    // librsvg copies what it keeps; the message is truncated to its room.
    guard
      let document = unsafe vitrine_svg_create(
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
        bytes.count,
        &message,
        message.count,
      )
    else { throw unsafe Self.error(message, isWhole: Self.hasEnd(ByteReader(bytes))) }
    unsafe self.document = document
  }

  deinit { unsafe vitrine_svg_destroy(document) }

  /// The size in pixels, above 0.
  var size: (width: Double, height: Double) {
    var size = vitrine_svg_size()
    unsafe vitrine_svg_get_size(document, &size)
    let hasView = size.view_width > 0 && size.view_height > 0
    let aspect = hasView ? size.view_width / size.view_height : 2
    if size.width > 0, size.height > 0 { return (size.width, size.height) }
    if size.width > 0 { return (size.width, size.width / aspect) }
    if size.height > 0 { return (size.height * aspect, size.height) }
    // CSS's size of a replaced element without a size of its own.
    return hasView ? (size.view_width, size.view_height) : (300, 150)
  }

  /// Draws a part into `4 * part.width * part.height` bytes, which must be zero, as RGBA with premultiplied colours.
  ///
  /// The part is one of the drawing at a size of `width` x `height` pixels.
  func draw(
    _ part: PixelRegion,
    ofWidth width: Int,
    height: Int,
    into pixels: UnsafeMutableRawBufferPointer,
  ) throws(ImageError) {
    precondition(pixels.count == 4 * part.width * part.height && part.width <= 32_767 && part.height <= 32_767)
    var message = [CChar](repeating: 0, count: Self.messageSize)
    let size = size
    // The precondition guarantees the room; the message is truncated to its room.
    let status = unsafe vitrine_svg_draw(
      document,
      vitrine_svg_part(
        from_width: size.width,
        from_height: size.height,
        scale_x: Double(width) / size.width,
        scale_y: Double(height) / size.height,
        x: Double(part.x),
        y: Double(part.y),
      ),
      pixels.baseAddress?.assumingMemoryBound(to: UInt8.self),
      Int32(part.width),
      Int32(part.height),
      &message,
      message.count,
    )
    guard status == 0 else { throw Self.error(message, isWhole: true) }
    for offset in stride(from: 0, to: pixels.count - 3, by: 4) {
      // The stride keeps the four bytes from `offset` within the memory.
      let pixel = unsafe pixels.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
      unsafe pixels.storeBytes(
        of: SIMD4(pixel.z, pixel.y, pixel.x, pixel.w),
        toByteOffset: offset,
        as: SIMD4<UInt8>.self,
      )
    }
  }

  /// Returns `true` if the root element is closed.
  private static func hasEnd(_ file: ByteReader) -> Bool {
    (0..<file.count).reversed().contains { offset in
      guard file.byte(at: offset) == 0x3C, file.matches("</", at: offset) else { return false }
      let tag = file.slice(offset, 64).textStart(limit: 64)
      return tag.contains("svg") && tag.contains(">")
    }
  }

  private static func error(_ message: [CChar], isWhole: Bool) -> ImageError {
    let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split { $0.isNewline || $0 == " " }.joined(separator: " ")
    guard isWhole else {
      return ImageError(.truncated, format: .svg, "truncated: the file ends inside the drawing")
    }
    // librsvg's own limits on elements and references.
    if text.contains("exceeded") || text.contains("limit") {
      return ImageError(.overLimit, format: .svg, "svg over the limit: \(text)")
    }
    return ImageError(.corrupt, format: .svg, "corrupt: \(text)")
  }
}
