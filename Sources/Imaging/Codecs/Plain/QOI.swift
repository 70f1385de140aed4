package import VitrineRuntime

/// Decodes the Quite OK Image format (qoiformat.org), row by row.
public struct QOIDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// QOI.
  public let formats: [ImageFormat] = [.qoi]

  /// Reads the 14-byte header.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let reader = unsafe ByteReader(bytes)
    guard let width = reader.bigEndian32(at: 4), let height = reader.bigEndian32(at: 8),
      let channels = reader.byte(at: 12), let colorSpace = reader.byte(at: 13)
    else { throw ImageError(.truncated, format: .qoi, "truncated: the file ends inside its header") }
    guard channels == 3 || channels == 4, colorSpace < 2 else {
      throw ImageError(.corrupt, format: .qoi, "corrupt: \(channels) channels, colour space \(colorSpace)")
    }
    var info = ImageInfo(format: .qoi, storedWidth: Int(width), storedHeight: Int(height))
    info.hasAlpha = channels == 4
    info.streamsRows = true
    return info
  }

  /// Opens the picture for reading rows.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let info = request.info
    var state = unsafe QOIState(ByteReader(bytes))
    return LineRows(width: info.storedWidth, height: info.storedHeight, hasAlpha: info.hasAlpha) {
      (row, line) throws(ImageError) in
      for x in line.indices {
        guard let pixel = state.next() else {
          throw ImageError(
            .truncated,
            format: .qoi,
            "truncated: the file ends at row \(row) of \(info.storedHeight)",
          )
        }
        line[x] = Pixel.rgba(pixel.x, pixel.y, pixel.z, info.hasAlpha ? pixel.w : 255)
      }
    }
  }
}

/// The state of the reader.
private struct QOIState {
  static let start = SIMD4<UInt8>(0, 0, 0, 255)

  private let bytes: ByteReader
  private var offset = 14
  private var run = 0
  private var last = start
  private var seen = [SIMD4<UInt8>](repeating: SIMD4(), count: 64)

  init(_ bytes: ByteReader) {
    self.bytes = bytes
  }

  static func slot(_ pixel: SIMD4<UInt8>) -> Int {
    (Int(pixel.x) * 3 + Int(pixel.y) * 5 + Int(pixel.z) * 7 + Int(pixel.w) * 11) % 64
  }

  mutating func next() -> SIMD4<UInt8>? {
    if run > 0 {
      run -= 1
      return last
    }
    guard let tag = bytes.byte(at: offset) else { return nil }
    offset += 1
    switch tag {
    case 0xFE, 0xFF:
      guard let red = bytes.byte(at: offset), let green = bytes.byte(at: offset + 1),
        let blue = bytes.byte(at: offset + 2)
      else { return nil }
      (last.x, last.y, last.z) = (red, green, blue)
      if tag == 0xFF {
        guard let alpha = bytes.byte(at: offset + 3) else { return nil }
        last.w = alpha
      }
      offset += tag == 0xFF ? 4 : 3
    case 0xC0...: run = Int(tag & 0x3F)
    case 0x80...:
      guard let second = bytes.byte(at: offset) else { return nil }
      offset += 1
      let green = (tag & 0x3F) &- 32
      last.x &+= green &- 8 &+ (second >> 4)
      last.y &+= green
      last.z &+= green &- 8 &+ (second & 15)
    case 0x40...:
      last.x &+= (tag >> 4 & 3) &- 2
      last.y &+= (tag >> 2 & 3) &- 2
      last.z &+= (tag & 3) &- 2
    default: last = seen[Int(tag)]
    }
    seen[Self.slot(last)] = last
    return last
  }
}

/// Encodes the Quite OK Image format, which is lossless: larger than PNG and several times as fast.
package struct QOIEncoder: ImageEncoder {
  /// Makes the encoder.
  package init() {}

  /// QOI.
  package var format: ImageFormat { .qoi }

  /// Alpha.
  package var features: EncoderFeatures { .alpha }

  /// Nothing to choose.
  package struct Options: EncodingOptions {
    /// Makes the options.
    package init(quality: Int? = nil, isLossless: Bool = true) {}

    /// Empty.
    package var identifier: String { "" }

    /// Returns `true`.
    package var commonIsLossless: Bool { true }
  }

  /// Encodes a bitmap, with four channels if any pixel is transparent, otherwise three.
  ///
  /// Blocks until done.
  package func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data {
    let bitmap = input.bitmap
    var file = Data("qoif".utf8)
    for length in [bitmap.width, bitmap.height] {
      for shift in [24, 16, 8, 0] { file.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
    file.append(contentsOf: [bitmap.alpha == .opaque ? 3 : 4, 0])
    try QOIStream.append(bitmap, to: &file) { () throws(ImageError) in try input.checkCancellation() }
    file.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, 1])
    return file
  }
}

extension QOIEncoder: MeasuredEncoder {
  /// The file, at most.
  package var byteCountPerPixel: Int { 5 }
}
