import CVitrineSVG
import VitrineImaging
import VitrineRuntime

/// A parsed drawing.
@safe
final class SVGDocument {
  private static let messageSize = 512
  /// The bytes that an ordinary drawing takes for each byte of its text.
  static let textCost = 8

  // Owned: made in init, freed in deinit, used by one thread at a time.
  private let document: OpaquePointer
  /// The size in pixels, above 0.
  let size: (width: Double, height: Double)

  /// Parses a document, which may be compressed.
  init(_ bytes: UnsafeRawBufferPointer, _ limits: DecodeLimits = DecodeLimits()) throws(ImageError) {
    try SVGDecoder.library.check()
    let file = unsafe ByteReader(bytes)
    if file.starts(with: Gzip.signature) {
      unsafe (document, size) = try Self.inflate(file, limits).reading(Self.parse)
    } else {
      unsafe (document, size) = try Self.parse(file)
    }
  }

  /// Returns the text of a compressed file.
  private static func inflate(_ file: ByteReader, _ limits: DecodeLimits) throws(ImageError) -> [UInt8] {
    let limit = limits.memoryByteCount / textCost
    let (text, end) = Gzip.inflate(file, limit: limit)
    switch end {
    case .whole: return text
    case .truncated: throw ImageError(.truncated, format: .svg, "truncated: the file ends inside the drawing")
    case .damaged: throw ImageError(.corrupt, format: .svg, "corrupt: the compressed file is damaged")
    case .limit:
      let detail = "svg with a compressed text of more than \(limit / 1_000_000) MB, over the limit"
      throw ImageError(.overLimit, format: .svg, limit: .memoryByteCount, detail)
    }
  }

  private static func parse(_ text: ByteReader) throws(ImageError) -> (OpaquePointer, (width: Double, height: Double)) {
    var message = [CChar](repeating: 0, count: messageSize)
    // librsvg copies what it keeps; the message is truncated to its room.
    let document = unsafe text.bytes.withUnsafeBufferPointer { text in
      unsafe vitrine_svg_create(text.baseAddress, text.count, &message, message.count)
    }
    guard let document = unsafe document else { throw Self.error(message, isWhole: hasEnd(text)) }
    return unsafe (document, size(of: document, XMLRoot(text)))
  }

  deinit { unsafe vitrine_svg_destroy(document) }

  /// The size of a browser's font, in pixels.
  private static let usualFontSize = 16.0

  /// Returns the size that CSS gives to a drawing where nothing around it says one (CSS Images 3, 4.3 and 5.1).
  private static func size(of document: OpaquePointer, _ root: XMLRoot?) -> (Double, Double) {
    var size = vitrine_svg_size()
    unsafe vitrine_svg_get_size(document, &size)
    func length(_ property: String) -> SVGLength? { root.flatMap { SVGLength(property, of: $0) } }
    let fontSize = length("font-size")?.pixels(fontSize: usualFontSize, rootSize: usualFontSize) ?? usualFontSize
    let (width, height) = (length("width"), length("height"))
    func side(_ known: Double, _ length: SVGLength?) -> Double? {
      if known > 0 { return known }
      // In a unit that depends on the font, or that librsvg does not know.
      return length?.pixels(fontSize: fontSize, rootSize: fontSize).flatMap { $0 > 0 ? $0 : nil }
    }
    let hasView = size.view_width > 0 && size.view_height > 0
    // What cannot be told, as a percentage of something around it, is as long as CSS's ratio of what has none says.
    func ratio(without property: String) -> Double? {
      hasView ? size.view_width / size.view_height : root?.attribute(property) == nil ? nil : 2
    }
    switch (side(size.width, width), side(size.height, height)) {
    case (let width?, let height?): return (width, height)
    case (let width?, nil): return (width, ratio(without: "height").map { width / $0 } ?? 150)
    case (nil, let height?): return (ratio(without: "width").map { height * $0 } ?? 300, height)
    case (nil, nil): return hasView ? (size.view_width, size.view_height) : (300, 150)
    }
  }

  /// Draws a part into `4 * part.width * part.height` bytes, which must be zero, as RGBA with premultiplied colours.
  ///
  /// The part is one of the drawing at a size of `width` x `height` pixels.
  func draw(
    _ part: PixelRegion,
    ofWidth width: Int,
    height: Int,
    into pixels: MutableElements<UInt8>,
  ) throws(ImageError) {
    precondition(pixels.count == 4 * part.width * part.height && part.width <= 32_767 && part.height <= 32_767)
    var message = [CChar](repeating: 0, count: Self.messageSize)
    let place = vitrine_svg_part(
      from_width: size.width,
      from_height: size.height,
      scale_x: Double(width) / size.width,
      scale_y: Double(height) / size.height,
      x: Double(part.x),
      y: Double(part.y),
    )
    let (partWidth, partHeight) = (Int32(part.width), Int32(part.height))
    // The precondition guarantees the room; the message is truncated to its room.
    let status = unsafe pixels.withUnsafeBufferPointer { pixels in
      unsafe vitrine_svg_draw(document, place, pixels.baseAddress, partWidth, partHeight, &message, message.count)
    }
    guard status == 0 else { throw Self.error(message, isWhole: true) }
    pixels.swapRedAndBlue()
  }

  /// Returns `true` if the root element is closed.
  private static func hasEnd(_ file: ByteReader) -> Bool {
    // Without the zeros of UTF-16.
    let text = file.copy().filter { $0 != 0 }
    return text.indices.reversed().contains { offset in
      guard text[offset] == 0x3C, text[offset...].starts(with: "</".utf8) else { return false }
      let tag = String(decoding: text[offset...].prefix(64), as: UTF8.self)
      return tag.contains("svg") && tag.contains(">")
    }
  }

  private static func error(_ message: [CChar], isWhole: Bool) -> ImageError {
    let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split { $0.isNewline || $0 == " " }.joined(separator: " ")
    guard isWhole else {
      return ImageError(.truncated, format: .svg, "truncated: the file ends inside the drawing")
    }
    // cairo's errors, and librsvg's own limits on elements and references.
    if text.contains("NoMemory") || text.contains("out of memory") {
      let detail = "svg that needs more memory than there is"
      return ImageError(.decoderFailed, format: .svg, limit: .memoryByteCount, detail)
    }
    if text.contains("InvalidSize") || text.contains("invalid value (typically too big)") {
      return ImageError(.overLimit, format: .svg, limit: .side, "svg with a part of more than 32767 pixels on a side")
    }
    if text.contains("exceeded") || text.contains("limit") {
      return ImageError(.overLimit, format: .svg, "svg over the limit: \(text)")
    }
    return ImageError(.corrupt, format: .svg, "corrupt: \(text)")
  }
}
