import VitrineImaging
import VitrineRuntime

/// Counts what makes librsvg allocate memory, in one pass over the document, before librsvg sees it.
///
/// The bytes for each were measured with librsvg 2.54.
struct SVGScan {
  /// One letter of a text element, which is laid out as a whole.
  private static let bytesPerLetter = 6500
  private static let bytesPerElement = 1400
  /// One byte of the document: a path's commands take the most.
  private static let bytesPerByte = 70
  /// The maximum number of drawings within one another.
  private static let depthLimit = 3

  /// The number of results of filters that are kept by a name.
  private var filterResults = 0
  private var elements = 0
  /// The letters of the present text element, and of the longest one.
  private var (letters, mostLetters) = (0, 0)
  private var textDepth = 0
  /// The bytes of embedded pictures.
  private var (pictures, largestPicture) = (0, 0)
  /// The length of each entity with all those in it.
  private var entities: [[UInt8]: Int] = [:]
  private var expanded = 0
  private var styleDepth = 0
  private var layers: SVGLayers
  private var dashes = SVGDashes()
  private var patterns = SVGPatterns()
  private let file: ByteReader
  private let limits: DecodeLimits
  private let depth: Int

  /// The bytes that the parsed document and its longest text need.
  var byteCount: Int {
    file.count.addingSaturating(expanded).multipliedSaturating(by: Self.bytesPerByte)
      .addingSaturating(elements.multipliedSaturating(by: Self.bytesPerElement))
      .addingSaturating(max(letters, mostLetters).multipliedSaturating(by: Self.bytesPerLetter))
      .addingSaturating(pictures).addingSaturating(largestPicture).addingSaturating(dashes.byteCount)
  }

  /// Returns the bytes of the surfaces that are held at once while it is drawn.
  func surfaceByteCount(_ canvas: SVGCanvas, nominal: (width: Double, height: Double)) -> Int {
    let depth = layers.depth
    // A filter keeps its results with a name.
    return canvas.byteCount.multipliedSaturating(by: depth.addingSaturating(depth > 0 ? filterResults : 0))
      .addingSaturating(patterns.byteCount(canvas, nominal: nominal))
  }

  /// Scans a document.
  ///
  /// - Throws: ``ImageError``: `.unsupported` for an embedded picture whose size cannot be read, `.overLimit` for more
  ///   elements than the memory allows, before the rest is read.
  init(_ file: ByteReader, _ limits: DecodeLimits, depth: Int = 0) throws(ImageError) {
    (self.file, self.limits, self.depth) = (file, limits, depth)
    let hasEntities = file.contains("<!ENTITY")
    layers = SVGLayers(
      // A style may draw any element into a surface.
      keepsAll: hasEntities || file.contains("<style") || file.contains(":style"),
      // Other clips are outlines.
      countsClips: hasEntities || file.contains("objectBoundingBox"),
    )
    var offset = 0
    while offset < file.count {
      let next = self.next(0x3C, from: offset)
      countLetters(offset..<next)
      switch file.byte(at: next + 1) {
      case UInt8(ascii: "!"): offset = try markup(from: next)
      case UInt8(ascii: "?"): offset = end("?>", from: next)
      case nil: return
      default: offset = try tag(from: next + 1)
      }
    }
  }

  /// Reads a comment, a section or a document type, and returns the offset behind it.
  private mutating func markup(from start: Int) throws(ImageError) -> Int {
    if file.matches("<!--", at: start) { return end("-->", from: start + 4) }
    guard file.matches("<![CDATA[", at: start) else { return try declarations(from: start) }
    let end = end("]]>", from: start)
    if textDepth > 0 { letters += end - start }
    addStyle(start..<end)
    return end
  }

  /// Counts the letters of a range, with entities at their full length.
  private mutating func countLetters(_ range: Range<Int>) {
    let entities = countEntities(range)
    if textDepth > 0 { letters = letters.addingSaturating(range.count).addingSaturating(entities) }
    // An entity may hold a text element of its own, or many empty elements of four letters.
    mostLetters = max(mostLetters, entities)
    elements = elements.addingSaturating(entities / 4)
    addStyle(range)
  }

  private mutating func addStyle(_ range: Range<Int>) {
    guard styleDepth > 0 else { return }
    let text = file.slice(range.lowerBound, range.count)
    layers.add(style: text)
    dashes.add(text, isTag: false)
  }

  /// Returns the length of the entities that a range refers to.
  private mutating func countEntities(_ range: Range<Int>) -> Int {
    guard !entities.isEmpty else { return 0 }
    var length = 0
    var offset = next(0x26, from: range.lowerBound)
    while offset < range.upperBound {
      length = length.addingSaturating(entities[name(offset + 1, before: next(0x3B, from: offset))] ?? 0)
      offset = next(0x26, from: offset + 1)
    }
    expanded = expanded.addingSaturating(length)
    return length
  }

  /// Reads the tag whose name begins at `start`, and returns the offset behind it.
  private mutating func tag(from start: Int) throws(ImageError) -> Int {
    let isEnd = file.byte(at: start) == 0x2F
    var offset = start
    var quote: UInt8?
    while let byte = file.byte(at: offset) {
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == 0x22 || byte == 0x27 {
        quote = byte
      } else if byte == 0x3E {
        break
      }
      offset += 1
    }
    let isEmpty = file.byte(at: offset - 1) == UInt8(ascii: "/")
    let content = file.slice(isEnd ? start + 1 : start, offset - start - (isEnd || isEmpty ? 1 : 0))
    let (isText, isStyle) = (content.isNamed("text"), content.isNamed("style"))
    if isEnd {
      layers.end()
      if isStyle, styleDepth > 0 { styleDepth -= 1 }
      if isText, textDepth > 0 {
        textDepth -= 1
        if textDepth == 0 { (letters, mostLetters) = (0, max(mostLetters, letters)) }
      }
      return offset + 1
    }
    elements += 1
    try checkElements()
    let hasAttributes = content.firstOffset(of: UInt8(ascii: "="), from: 0) != nil
    layers.begin(content, isEmpty: isEmpty, hasAttributes: hasAttributes)
    if hasAttributes {
      if content.contains("result") { filterResults += 1 }
      _ = countEntities(start..<offset)
      try countPictures(content)
      dashes.add(content, isTag: true)
      patterns.add(content)
    }
    if !isEmpty {
      if isText { textDepth += 1 }
      if isStyle { styleDepth += 1 }
    }
    return offset + 1
  }

  private func checkElements() throws(ImageError) {
    guard elements & 0xFFF == 0, elements * Self.bytesPerElement > limits.memoryByteCount else { return }
    throw ImageError(
      .overLimit,
      format: .svg,
      limit: .memoryByteCount,
      "svg of more than \(elements) elements, which need more memory than the limit of "
        + "\(limits.memoryByteCount / 1_000_000) MB",
    )
  }

  /// Reads a document type with its entities, and returns the offset behind it.
  private mutating func declarations(from start: Int) throws(ImageError) -> Int {
    var offset = start + 2
    var isInside = false
    while let byte = file.byte(at: offset) {
      if byte == 0x5B { isInside = true }
      if byte == 0x5D { isInside = false }
      if byte == 0x3E, !isInside { return offset + 1 }
      if file.matches("<!--", at: offset) {
        offset = end("-->", from: offset + 4)
      } else if file.matches("<!ENTITY", at: offset) {
        offset = try entity(from: offset + 8)
      } else if byte == 0x22 || byte == 0x27 {
        offset = next(byte, from: offset + 1) + 1
      } else {
        offset += 1
      }
    }
    return offset
  }

  private mutating func entity(from start: Int) throws(ImageError) -> Int {
    var offset = start
    while let byte = file.byte(at: offset), byte <= 0x20 { offset += 1 }
    let first = offset
    while let byte = file.byte(at: offset), byte > 0x20, byte != 0x3E { offset += 1 }
    let name = name(first, before: offset)
    while let byte = file.byte(at: offset), byte != 0x22, byte != 0x27 {
      if byte == 0x3E { return offset + 1 }
      offset += 1
    }
    guard let quote = file.byte(at: offset) else { return offset }
    let end = next(quote, from: offset + 1)
    var length = end - offset
    var reference = next(0x26, from: offset)
    while reference < end {
      length = length.addingSaturating(entities[self.name(reference + 1, before: next(0x3B, from: reference))] ?? 0)
      reference = next(0x26, from: reference + 1)
    }
    // An entity that refers to a later one is refused by libxml2 where that loops, and counted by its own use here.
    entities[name] = max(length, entities[name] ?? 0)
    let content = file.slice(offset, end - offset)
    try countPictures(content)
    dashes.add(content, isTag: false)
    if layers.add(style: content), content.contains("<") {
      throw ImageError(
        .unsupported,
        format: .svg,
        "an unsupported kind of SVG: entities with elements that have effects",
      )
    }
    return end + 1
  }

  // MARK: Embedded pictures

  private mutating func countPictures(_ content: ByteReader) throws(ImageError) {
    var offset = content.firstOffset(of: "data:", from: 0)
    while let start = offset {
      let comma = content.firstOffset(of: ",", from: start) ?? content.count
      let isBase64 = content.slice(start, comma - start).contains("base64")
      let body = content.slice(comma + 1, content.count)
      try count(Data(isBase64 ? Self.decodedBase64(body) : Self.decodedPercents(body)))
      offset = content.firstOffset(of: "data:", from: comma)
    }
  }

  private mutating func count(_ picture: Data) throws(ImageError) {
    guard picture.count > 8 else { return }
    let count: Int
    switch ImageFormat.sniff(picture) {
    case .svg:
      guard depth < Self.depthLimit else {
        throw ImageError(.unsupported, format: .svg, "an unsupported kind of SVG: too many drawings in one another")
      }
      let inner: Result<SVGScan, ImageError> = unsafe picture.withUnsafeBytes { bytes in
        // The bytes are only read while the closure runs.
        do throws(ImageError) {
          return .success(try unsafe SVGScan(ByteReader(bytes), limits, depth: depth + 1))
        } catch {
          return .failure(error)
        }
      }
      count = try inner.get().byteCount
    case nil:
      // Fonts and the like, which librsvg does not load. Other pictures have a format.
      count = 0
    default:
      var limits = DecodeLimits()
      limits.pixelCount = .max
      limits.streamedPixelCount = .max
      limits.side = .max
      guard let info = try? DecoderRegistry.standard.info(of: picture, limits: limits) else {
        throw ImageError(.unsupported, format: .svg, "an embedded picture whose size cannot be read")
      }
      count = info.width.multipliedSaturating(by: info.height).multipliedSaturating(by: 4)
    }
    // Pictures are kept, and each is held twice while it is converted.
    pictures = pictures.addingSaturating(count)
    largestPicture = max(largestPicture, count)
  }

  private static func decodedBase64(_ text: ByteReader) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var (bits, count) = (UInt32(0), 0)
    for offset in 0..<text.count {
      guard let byte = text.byte(at: offset) else { break }
      let value: UInt8
      switch byte {
      case 0x41...0x5A: value = byte - 0x41
      case 0x61...0x7A: value = byte - 0x61 + 26
      case 0x30...0x39: value = byte - 0x30 + 52
      case 0x2B: value = 62
      case 0x2F: value = 63
      case 0...0x20: continue
      default: return bytes
      }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  private static func decodedPercents(_ text: ByteReader) -> [UInt8] {
    var bytes: [UInt8] = []
    var offset = 0
    while let byte = text.byte(at: offset), byte != 0x22 {
      if byte == 0x25, let code = text.ascii(at: offset + 1, count: 2).flatMap({ UInt8($0, radix: 16) }) {
        bytes.append(code)
        offset += 3
      } else {
        bytes.append(byte)
        offset += 1
      }
    }
    return bytes
  }

  // MARK: Bytes

  private func name(_ start: Int, before end: Int) -> [UInt8] {
    file.slice(start, min(64, max(0, end - start))).copy()
  }

  private func next(_ byte: UInt8, from start: Int) -> Int { file.firstOffset(of: byte, from: start) ?? file.count }

  /// Returns the offset behind the next `mark`, or that of the end.
  private func end(_ mark: StaticString, from start: Int) -> Int {
    file.firstOffset(of: mark, from: start).map { $0 + mark.utf8CodeUnitCount } ?? file.count
  }
}
