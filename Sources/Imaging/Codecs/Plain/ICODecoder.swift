import VitrineRuntime

/// Reads Windows icons and cursors: of the pictures in a file the one that suits the size asked for.
///
/// That is the smallest that need not be enlarged, and of several of that size the one with the most colours. The
/// largest says how large the image is, which has one frame.
public struct ICODecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// ICO, which stands for cursors too.
  public var formats: [ImageFormat] { [.ico] }

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
      info.colorProfile = try unsafe PNGDecoder().info(of: file.bytes, format: .png, limits: limits)?.colorProfile
    }
    return info
  }

  /// Opens the picture that suits the size asked for.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let file = try unsafe IconFile(ByteReader(bytes), request.limits)
    // A profile is that of the largest, and the others may have none.
    let picture = request.info.colorProfile == nil ? file.best(for: request.scales) : file.largest
    switch picture.content {
    case .bitmap(let header, let bytes, let length):
      return try header.iconRows(bytes, length: length)
    case .png(let file):
      guard let info = try unsafe PNGDecoder().info(of: file.bytes, format: .png, limits: request.limits) else {
        return nil
      }
      try request.limits.check(info)
      let inner = RowRequest(
        info: info,
        frame: 0,
        minimumScale: 1,
        scales: (1, 1),
        limits: request.limits,
        control: request.control,
      )
      return try unsafe PNGDecoder().open(file.bytes, inner)
    }
  }
}

/// The directory of an icon file.
private struct IconFile {
  enum Content {
    /// The length tells whether there is a mask: what is declared, or if there is more the room up to the next picture.
    case bitmap(BMPHeader, ByteReader, length: Int)
    case png(ByteReader)
  }

  struct Picture {
    var width: Int
    var height: Int
    var bits: Int
    var content: Content
  }

  /// The pictures that could be read, the largest with the most colours first; at least one.
  private let pictures: [Picture]
  let largest: Picture

  init(_ bytes: ByteReader, _ limits: DecodeLimits) throws(ImageError) {
    guard let count = bytes.littleEndian16(at: 4) else { throw Self.truncated }
    try limits.check(frames: Int(count), format: .ico)
    var pictures: [Picture] = []
    var failure = ImageError(.corrupt, format: .ico, "corrupt: an icon without a picture")
    let offsets = (0..<Int(count)).map { Int(bytes.littleEndian32(at: 18 + $0 * 16) ?? 0) }.sorted()
    for index in 0..<Int(count) {
      guard let length = bytes.littleEndian32(at: 14 + index * 16),
        let offset = bytes.littleEndian32(at: 18 + index * 16)
      else { throw Self.truncated }
      // Lengths are wrong often enough; what counts is where the picture begins.
      let content = bytes.slice(Int(offset), bytes.count)
      do throws(ImageError) {
        let next = offsets[Self.firstIndex(in: offsets, above: Int(offset))...].first ?? bytes.count
        let room = max(0, min(next, bytes.count) - Int(offset))
        pictures.append(try Self.picture(content, length: max(Int(length), room)))
      } catch {
        // The others will do, unless it is for the missing end that this one is unreadable.
        guard error.code != .truncated else { throw Self.truncated }
        failure = ImageError(error.code, format: .ico, error.detail)
      }
    }
    self.pictures = pictures.sorted { ($0.width * $0.height, $0.bits) > ($1.width * $1.height, $1.bits) }
    guard let largest = self.pictures.first else { throw failure }
    self.largest = largest
  }

  /// O(log n), since thousands of entries may name thousands of places.
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
    // Half a pixel is lost where the size asked for is rounded.
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
      // No more of it than its size: thousands of entries may name one file of thousands of chunks.
      guard let width = bytes.bigEndian32(at: 16), let height = bytes.bigEndian32(at: 20) else { throw Self.truncated }
      guard bytes.matches("IHDR", at: 12), width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
        throw ImageError(.corrupt, format: .ico, "corrupt: a picture of \(width)x\(height) pixels")
      }
      return Picture(width: Int(width), height: Int(height), bits: 32, content: .png(bytes))
    }
    var header = try BMPHeader(bytes, inIcon: true, metadataLimit: 0)
    guard !header.isRunLength else {
      throw ImageError(.corrupt, format: .ico, "corrupt: a picture of run lengths in an icon")
    }
    header.useFourthByteAsAlpha()
    return Picture(
      width: header.width,
      height: header.height,
      bits: header.bitCount,
      content: .bitmap(header, bytes, length: length),
    )
  }

  static let truncated = ImageError(.truncated, format: .ico, "truncated: the file ends within its directory")
}

extension BMPHeader {
  /// The rows of a picture in an icon, behind which one bit a pixel says what is transparent.
  fileprivate func iconRows(_ bytes: ByteReader, length: Int) throws(ImageError) -> LineRows {
    let pixelEnd = pixelOffset + bytesPerRow * height
    let maskBytesPerRow = (width + 31) / 32 * 4
    guard bytes.count >= pixelEnd else { throw Self.missing }
    let hasOwnAlpha = masks.count == 4 && masks[3].bits > 0 && showsAnything(bytes)
    let maskEnd = pixelEnd + maskBytesPerRow * height
    // Some writers leave the mask out, and say so by the length; others get the length wrong.
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

  private static let missing = ImageError(.truncated, format: .ico, "truncated: the file ends within its picture")
}
