public import VitrineRuntime

extension ImageFormat {
  /// Returns the format of an encoded image by its first bytes; `nil` if it is not known.
  ///
  /// For all formats but two, 32 bytes are enough. APNG differs from PNG by an `acTL` chunk before the first `IDAT`,
  /// so `data` must contain that chunk. SVG is an XML document whose root is `svg`, so `data` must reach that; it may be
  /// compressed (gzip, RFC 1952), and then must begin within the first 256 KiB of the text.
  ///
  /// Complexity: O(number of chunks) for PNG, O(bytes before the root) for SVG, O(1) for all others.
  public static func sniff(_ data: Data) -> ImageFormat? {
    // The bytes are only read while the closure runs.
    unsafe data.withUnsafeBytes { unsafe sniff(ByteReader($0)) }
  }

  static func sniff(_ bytes: ByteReader) -> ImageFormat? {
    if bytes.starts(with: [0xFF, 0xD8]), isJPEG(bytes) { return .jpeg }
    if bytes.starts(with: PNGHeader.signature) { return PNGHeader.isAnimated(bytes) ? .apng : .png }
    if bytes.starts(with: "GIF87a") || bytes.starts(with: "GIF89a") { return .gif }
    if bytes.starts(with: "RIFF"), bytes.matches("WEBP", at: 8) { return .webp }
    if bytes.matches("ftyp", at: 4) { return brand(bytes) }
    if bytes.starts(with: [0xFF, 0x0A])
      || bytes.starts(with: [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A])
    {
      return .jxl
    }
    if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42])
      || bytes.starts(with: [0x49, 0x49, 43, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 43])
    {
      return .tiff
    }
    if bytes.starts(with: "qoif") { return .qoi }
    if bytes.starts(with: "BM"), isBMPHeader(bytes) { return .bmp }
    if bytes.starts(with: [0, 0, 1, 0]) || bytes.starts(with: [0, 0, 2, 0]), isIconDirectory(bytes) { return .ico }
    if bytes.starts(with: [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A])
      || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
    {
      return .jpeg2000
    }
    if XMLRoot(bytes)?.name == "svg" { return .svg }
    return nil
  }

  /// Describes bytes that are not an image, for a message; returns `nil` if they are unknown.
  static func describeOther(_ bytes: ByteReader) -> String? {
    let start = bytes.textStart(limit: 512).lowercased()
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.contains("<html") {
      return "an HTML page"
    }
    if bytes.starts(with: "%PDF-") { return "a PDF document" }
    if start.hasPrefix("{") || start.hasPrefix("[") { return "JSON or plain text" }
    if start.hasPrefix("<?xml") { return "an XML document" }
    if bytes.matches("ftyp", at: 4) { return "a video or other ISO media file" }
    if bytes.starts(with: XMLRoot.gzipSignature) { return "gzip-compressed data" }
    if bytes.starts(with: [0x50, 0x4B, 3, 4]) { return "a ZIP archive" }
    return nil
  }

  /// Returns the format by the brands of an ISO base media file (ISO/IEC 14496-12, `ftyp`): the major brand decides,
  /// then the compatible ones.
  private static func brand(_ bytes: ByteReader) -> ImageFormat? {
    let avif: Set<String> = ["avif", "avis"]
    let heic: Set<String> = ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs"]
    guard let length = bytes.bigEndian32(at: 0) else { return nil }
    var brands: [String] = []
    var offset = 8
    while offset + 4 <= min(Int(length), 256), let brand = bytes.ascii(at: offset, count: 4) {
      if offset != 12 { brands.append(brand) }  // 12 is the minor version
      offset += 4
    }
    if let major = brands.first, avif.contains(major) { return .avif }
    if let major = brands.first, heic.contains(major) { return .heic }
    if brands.contains(where: avif.contains) { return .avif }
    if brands.contains(where: heic.contains) || brands.contains("mif1") || brands.contains("msf1") { return .heic }
    return nil
  }

  /// A file may have other bytes between its first two markers, which libjpeg passes over; two segments follow them.
  private static func isJPEG(_ bytes: ByteReader) -> Bool {
    guard let byte = bytes.byte(at: 2), byte != 0xFF else { return bytes.count > 2 }
    let head = bytes.slice(0, 4096)
    var next = head.firstOffset(of: UInt8(0xFF), from: 2)
    while let offset = next {
      if let marker = head.byte(at: offset + 1), let length = head.bigEndian16(at: offset + 2) {
        let isSegment = marker == 0xDB || marker == 0xFE || (0xE0...0xEF).contains(marker)
        if isSegment, length > 2, bytes.byte(at: offset + 2 + Int(length)) == 0xFF { return true }
      }
      next = head.firstOffset(of: UInt8(0xFF), from: offset + 1)
    }
    return false
  }

  /// Many texts begin with "BM", so the size of the following header must be a valid one.
  private static func isBMPHeader(_ bytes: ByteReader) -> Bool {
    guard let size = bytes.littleEndian32(at: 14) else { return false }
    return size == 12 || size == 16 || size == 64 || (40...124).contains(size)
  }

  private static func isIconDirectory(_ bytes: ByteReader) -> Bool {
    guard let count = bytes.littleEndian16(at: 4), count > 0, let reserved = bytes.byte(at: 9) else { return false }
    return reserved == 0 || reserved == 255
  }
}
