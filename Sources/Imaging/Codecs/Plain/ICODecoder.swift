import VitrineRuntime

/// Decodes Windows icons and cursors.
///
/// It picks the picture in the file that best suits the requested size.
///
/// It is the smallest that need not be enlarged; of several of that size, the one with the most colours. The
/// largest one gives the image's size. The image has one frame.
public struct ICODecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// ICO, also for cursors.
  public let formats: [ImageFormat] = [.ico]

  /// Reads the directory and the header of each picture.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let best = try unsafe IconFile(ByteReader(bytes), limits).largest
    var info = ImageInfo(format: .ico, storedWidth: best.width, storedHeight: best.height)
    info.hasAlpha = true
    if case .png(let file) = best.content {
      info.colorProfile = try PNGDecoder().info(of: file, .png, limits).colorProfile
    }
    return info
  }

  /// Opens the picture that best suits the requested size.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let file = try unsafe IconFile(ByteReader(bytes), request.limits)
    // The profile is the largest picture's; the others may have none.
    let picture = request.info.colorProfile == nil ? file.best(for: request.scales) : file.largest
    switch picture.content {
    case .bitmap(let header, let bytes, let length):
      return try header.iconRows(bytes, length: length)
    case .png(let file):
      let info = try PNGDecoder().info(of: file, .png, request.limits)
      try request.limits.check(info)
      let inner = RowRequest(
        info: info,
        frame: 0,
        minimumScale: 1,
        scales: (1, 1),
        limits: request.limits,
        control: request.control,
      )
      return try PNGDecoder().open(file, inner)
    }
  }
}

/// The directory of an icon file.
struct IconFile {
  enum Content {
    /// `length` tells whether there is a mask: it is the declared length, or the room up to the next picture if that
    /// is more.
    case bitmap(BMPHeader, ByteReader, length: Int)
    case png(ByteReader)
  }

  struct Picture {
    var width: Int
    var height: Int
    var bits: Int
    var content: Content
  }

  /// The readable pictures, at least one.
  ///
  /// The largest with the most colours comes first.
  private let pictures: [Picture]
  let largest: Picture

  init(_ bytes: ByteReader, _ limits: DecodeLimits) throws(ImageError) {
    guard let count = bytes.littleEndian16(at: 4) else { throw Self.truncated }
    try limits.check(frames: Int(count), format: .ico)
    var pictures: [Picture] = []
    var failure = ImageError(.corrupt, format: .ico, "corrupt: the icon contains no picture")
    let offsets = (0..<Int(count)).map { Int(bytes.littleEndian32(at: 18 + $0 * 16) ?? 0) }.sorted()
    for index in 0..<Int(count) {
      guard let length = bytes.littleEndian32(at: 14 + index * 16),
        let offset = bytes.littleEndian32(at: 18 + index * 16)
      else { throw Self.truncated }
      // Lengths are often wrong, so only the start is used.
      let content = bytes.slice(Int(offset), bytes.count)
      do throws(ImageError) {
        let next = offsets[Self.firstIndex(in: offsets, above: Int(offset))...].first ?? bytes.count
        let room = max(0, min(next, bytes.count) - Int(offset))
        pictures.append(try Self.picture(content, length: max(Int(length), room)))
      } catch {
        // Other pictures can replace an unreadable one, unless the file's end is missing.
        guard error.code != .truncated else { throw Self.truncated }
        failure = ImageError(error.code, format: .ico, error.detail)
      }
    }
    self.pictures = pictures.sorted { ($0.width * $0.height, $0.bits) > ($1.width * $1.height, $1.bits) }
    guard let largest = self.pictures.first else { throw failure }
    self.largest = largest
  }

  /// O(log n), because thousands of entries may name thousands of offsets.
  private static func firstIndex(in sorted: [Int], above value: Int) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] > value { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func best(for scales: (x: Double, y: Double)) -> Picture {
    let (width, height) = (Double(largest.width), Double(largest.height))
    // Rounding the requested size loses up to half a pixel.
    let suitable = pictures.filter { picture in
      let (ownWidth, ownHeight) = (Double(picture.width), Double(picture.height))
      return ownWidth + 0.5 >= width * scales.x && ownHeight + 0.5 >= height * scales.y
        && abs(ownWidth * height - ownHeight * width) <= max(width, height)
    }
    guard let smallest = suitable.last else { return largest }
    return suitable.first { $0.width == smallest.width && $0.height == smallest.height } ?? largest
  }

  private static func picture(_ bytes: ByteReader, length: Int) throws(ImageError) -> Picture {
    if bytes.starts(with: PNGHeader.signature) {
      // Reads only the size: thousands of entries may name one file of thousands of chunks.
      guard let width = bytes.bigEndian32(at: 16), let height = bytes.bigEndian32(at: 20) else { throw Self.truncated }
      guard bytes.matches("IHDR", at: 12), width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
        throw ImageError(.corrupt, format: .ico, "corrupt: a picture has \(width)x\(height) pixels")
      }
      return Picture(width: Int(width), height: Int(height), bits: 32, content: .png(bytes))
    }
    var header = try BMPHeader(bytes, inIcon: true, metadataLimit: 0)
    guard !header.isRunLength else {
      throw ImageError(.corrupt, format: .ico, "corrupt: a picture in the icon uses run lengths")
    }
    header.useFourthByteAsAlpha()
    return Picture(
      width: header.width,
      height: header.height,
      bits: header.bitCount,
      content: .bitmap(header, bytes, length: length),
    )
  }

  static let truncated = ImageError(.truncated, format: .ico, "truncated: the file ends inside its directory")
}

extension BMPHeader {
  /// Returns the rows of a picture in an icon, which are followed by a transparency mask of one bit a pixel.
  fileprivate func iconRows(_ bytes: ByteReader, length: Int) throws(ImageError) -> LineRows {
    let pixelEnd = pixelOffset + bytesPerRow * height
    let maskBytesPerRow = (width + 31) / 32 * 4
    guard bytes.count >= pixelEnd else { throw Self.missing }
    let hasOwnAlpha = masks.count == 4 && masks[3].bits > 0 && showsAnything(bytes)
    let maskEnd = pixelEnd + maskBytesPerRow * height
    // Some writers omit the mask and declare so by the length; others declare a wrong length.
    let hasMask = !hasOwnAlpha && length > pixelEnd
    if hasMask, bytes.count < maskEnd { throw Self.missing }
    return LineRows(width: width, height: height, hasAlpha: true) { (row, line) in
      let stored = isTopDown ? row : height - 1 - row
      unpack(bytes.slice(pixelOffset + stored * bytesPerRow, bytesPerRow), into: &line)
      guard !hasOwnAlpha else { return }
      let mask = bytes.slice(pixelEnd + stored * maskBytesPerRow, maskBytesPerRow)
      for x in line.indices {
        let isHidden = hasMask && (mask.byte(at: x / 8) ?? 0) & (0x80 >> UInt8(x % 8)) != 0
        line[x] = isHidden ? 0 : line[x] | Pixel.opaqueBlack
      }
    }
  }

  private static let missing = ImageError(.truncated, format: .ico, "truncated: the file ends inside its picture")
}
