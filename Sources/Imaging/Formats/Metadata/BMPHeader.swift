import VitrineRuntime

/// The headers of a Windows or OS/2 bitmap, from the size of the second one to the palette.
struct BMPHeader {
  /// Returns `true` if a file begins like a bitmap.
  ///
  /// Many texts begin with "BM", so the size of the following header must be a valid one.
  static func isSignature(_ bytes: ByteReader) -> Bool {
    guard bytes.starts(with: "BM"), let size = bytes.littleEndian32(at: 14) else { return false }
    return size == 12 || size == 16 || size == 64 || (40...124).contains(size)
  }

  enum Compression { case none, rle8, rle4, rle24, masks }

  private(set) var width = 0
  private(set) var height = 0
  private(set) var isTopDown = false
  private(set) var bitCount = 0
  private(set) var compression = Compression.none
  /// The positions of red, green, blue and alpha within the bits of a pixel.
  private(set) var masks: [ChannelMask] = []
  /// 256 opaque colours in memory order; black if the file does not define them.
  private(set) var palette: [UInt32] = []
  private(set) var profile: ColorProfile?
  /// The offset of the pixels in bytes, from the beginning of the file, or in an icon from the headers.
  private(set) var pixelOffset = 0

  var bytesPerRow: Int { (width * bitCount + 31) / 32 * 4 }
  var isRunLength: Bool { compression == .rle8 || compression == .rle4 || compression == .rle24 }
  /// Runs may skip pixels, which are then transparent, as in browsers.
  var hasAlpha: Bool { isRunLength || (masks.count == 4 && masks[3].bits > 0) }

  /// Reads the headers of a file, or of a bitmap in an icon, which has no file header and counts the mask in its
  /// height.
  init(_ bytes: ByteReader, inIcon: Bool = false, metadataLimit: Int) throws(ImageError) {
    let start = inIcon ? 0 : 14
    guard let size = bytes.littleEndian32(at: start), inIcon || bytes.littleEndian32(at: 10) != nil else {
      throw Self.truncated
    }
    let headerEnd = start + Int(size)
    guard size == 12 || size == 16 || (40...124).contains(size) else {
      throw ImageError(.corrupt, format: .bmp, "corrupt: the header says that it has \(size) bytes")
    }
    guard bytes.count >= headerEnd else { throw Self.truncated }
    let header = bytes.slice(start, Int(size))
    try readSize(header, inIcon: inIcon)
    let number = size >= 20 ? header.littleEndian32(at: 16) ?? 0 : 0
    try readCompression(number, isOS2: size == 16 || size == 64)
    let masksBehind = size == 40 && compression == .masks ? (number == 6 ? 16 : 12) : 0
    try readMasks(bytes.slice(start + 40, max(Int(size) - 40, masksBehind)), masksBehind)

    let entrySize = size == 12 ? 3 : 4
    let paletteStart = headerEnd + masksBehind
    let declared = size >= 36 ? Int(header.littleEndian32(at: 32) ?? 0) : 0
    var colors = bitCount <= 8 ? (declared == 0 ? 1 << bitCount : min(declared, 256)) : 0
    pixelOffset = paletteStart + (bitCount <= 8 ? colors : declared) * entrySize
    // Where the palette begins there are no pixels, if the file says that it has one.
    let least = bitCount <= 8 && declared > 0 ? paletteStart + 1 : headerEnd
    if !inIcon, let offset = bytes.littleEndian32(at: 10), Int(offset) >= least {
      pixelOffset = Int(offset)
      // Some files have fewer colours than their bits allow.
      colors = min(colors, max(0, pixelOffset - paletteStart) / entrySize)
    }
    if bitCount <= 8 { try readPalette(bytes, paletteStart, colors, entrySize) }
    if size == 124, !inIcon, header.littleEndian32(at: 56) == 0x4D42_4544 {
      // PROFILE_EMBEDDED. The offset counts from the header.
      let (offset, length) = (Int(header.littleEndian32(at: 112) ?? 0), Int(header.littleEndian32(at: 116) ?? 0))
      let profile = bytes.slice(start + offset, length)
      if length > 0, profile.count == length, length <= metadataLimit {
        self.profile = ColorProfile(data: Data(profile.copy()))
      }
    }
  }

  private mutating func readSize(_ header: ByteReader, inIcon: Bool) throws(ImageError) {
    if header.count == 12 {
      (width, height) = (Int(header.littleEndian16(at: 4) ?? 0), Int(header.littleEndian16(at: 6) ?? 0))
      bitCount = Int(header.littleEndian16(at: 10) ?? 0)
    } else {
      width = Int(Int32(bitPattern: header.littleEndian32(at: 4) ?? 0))
      height = Int(Int32(bitPattern: header.littleEndian32(at: 8) ?? 0))
      bitCount = Int(header.littleEndian16(at: 14) ?? 0)
    }
    isTopDown = height < 0
    height = abs(height)
    if inIcon { height /= 2 }
    guard width > 0, height > 0 else {
      throw ImageError(.corrupt, format: .bmp, "corrupt: the header says \(width)x\(height) pixels")
    }
    guard [1, 2, 4, 8, 16, 24, 32].contains(bitCount) else {
      // 0 means a JPEG or PNG file inside, which only printers accept.
      let code: ImageError.Code = bitCount == 0 ? .unsupported : .corrupt
      throw ImageError(
        code,
        format: .bmp,
        "\(code == .corrupt ? "corrupt: " : "")a bitmap of \(bitCount) bits a pixel",
      )
    }
  }

  private mutating func readCompression(_ number: UInt32, isOS2: Bool) throws(ImageError) {
    switch (number, bitCount) {
    case (0, _): compression = .none
    case (1, 8): compression = .rle8
    case (2, 4): compression = .rle4
    case (3, 16) where !isOS2, (3, 32) where !isOS2, (6, 16), (6, 32): compression = .masks
    case (4, 24) where isOS2: compression = .rle24
    case (3, 1) where isOS2: throw Self.unsupported("Huffman compression")
    case (4, _): throw Self.unsupported("an embedded JPEG")
    case (5, _): throw Self.unsupported("an embedded PNG")
    default:
      throw ImageError(.corrupt, format: .bmp, "corrupt: compression \(number) with \(bitCount) bits a pixel")
    }
  }

  /// Later headers contain the masks at the place where they follow the first header.
  private mutating func readMasks(_ stored: ByteReader, _ masksBehind: Int) throws(ImageError) {
    guard stored.count >= masksBehind else { throw Self.truncated }
    let values = stride(from: 0, to: 16, by: 4).map { stored.littleEndian32(at: $0) ?? 0 }
    switch (bitCount, compression) {
    case (_, .masks):
      masks = values.prefix(masksBehind == 12 ? 3 : 4).map { ChannelMask($0) }
      guard masks.allSatisfy(\.isContiguous) else {
        throw ImageError(.corrupt, format: .bmp, "corrupt: the bits of a colour are not contiguous")
      }
    case (16, _): masks = [0x7C00, 0x03E0, 0x001F].map { ChannelMask($0) }
    case (32, _):
      // Without masks the fourth byte has no meaning, unless a later header gives it one.
      let hasAlpha = stored.count >= 16 && values[3] == 0xFF00_0000
      masks = [0x00FF_0000, 0x0000_FF00, 0x0000_00FF, hasAlpha ? 0xFF00_0000 : 0].map { ChannelMask($0) }
    default: break
    }
  }

  private mutating func readPalette(
    _ bytes: ByteReader,
    _ start: Int,
    _ count: Int,
    _ entrySize: Int,
  ) throws(ImageError) {
    guard bytes.count >= start + count * entrySize else { throw Self.truncated }
    palette = [UInt32](repeating: Pixel.opaqueBlack, count: 256)
    for index in 0..<count {
      let entry = start + index * entrySize
      guard let blue = bytes.byte(at: entry), let green = bytes.byte(at: entry + 1), let red = bytes.byte(at: entry + 2)
      else { throw Self.truncated }
      palette[index] = Pixel.rgba(red, green, blue)
    }
  }

  /// Treats the fourth byte as alpha, as icons do although their headers do not say so.
  mutating func useFourthByteAsAlpha() {
    guard bitCount == 32, compression == .none else { return }
    masks[3] = ChannelMask(0xFF00_0000)
  }

  mutating func ignoreAlpha() {
    if masks.count == 4 { masks[3] = ChannelMask(0) }
  }

  static let truncated = ImageError(.truncated, format: .bmp, "truncated: the file ends inside its header")

  private static func unsupported(_ feature: String) -> ImageError {
    ImageError(.unsupported, format: .bmp, "\(feature) in a BMP cannot be decoded")
  }
}

/// The position of one colour's bits within a pixel, and its conversion to 8 bits.
struct ChannelMask {
  let mask: UInt32
  let bits: Int
  private let shift: Int
  private let levels: [UInt8]

  init(_ mask: UInt32) {
    self.mask = mask
    bits = mask.nonzeroBitCount
    shift = mask == 0 ? 0 : mask.trailingZeroBitCount
    // Only the upper 8 bits of longer fields are used.
    let most = (1 << min(bits, 8)) - 1
    levels = mask == 0 ? [] : (0...most).map { UInt8(($0 * 255 + most / 2) / most) }
  }

  var isContiguous: Bool { mask == 0 || (mask >> UInt32(shift)) &+ 1 == UInt32(truncatingIfNeeded: 1 << bits) }

  func level(_ pixel: UInt32, none: UInt8) -> UInt8 {
    guard bits > 0 else { return none }
    let value = (pixel & mask) >> UInt32(shift)
    return levels[Int(bits > 8 ? value >> UInt32(bits - 8) : value)]
  }
}
