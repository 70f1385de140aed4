/// Follows a file as its bytes arrive, without decoding.
///
/// Each byte is scanned once, however small the pieces are.
protocol FileArrival: Sendable {
  /// True if a decoder can read the header from the bytes so far.
  var hasHeader: Bool { get }

  /// The frames of an animation that are whole; none of a still image.
  var frames: ArrivedFrames { get }

  /// Continues from the last position; `bytes` are the file from its beginning.
  mutating func advance(_ bytes: ByteReader)

  /// Returns the visible part of frame 0, once the header has been read.
  ///
  /// `isAtEighth` is true if at most an eighth of the size is needed.
  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart

  /// Returns the number of bytes that show frame 0, at `scale`, well enough for ``DecodeQuality/fast``, so that the
  /// rest is not needed.
  ///
  /// `nil` while there are too few.
  func sufficientByteCount(at scale: Double) -> Int?
}

extension FileArrival {
  var frames: ArrivedFrames { ArrivedFrames() }
  func sufficientByteCount(at scale: Double) -> Int? { nil }
}

/// The frames at the beginning of an animation that is still loading.
struct ArrivedFrames: Equatable {
  var count = 0
  /// The number of bytes that show that the last of them is whole.
  var byteCount = 0
}

/// The visible part of a file that is still loading.
enum VisiblePart: Equatable {
  case nothing
  /// The whole picture, in the given number of bytes. Higher stages look better.
  case stage(Int, byteCount: Int)
  /// Rows, in a file with the given estimated size. Those of an interlaced file soon cover the picture.
  case rows(isInterlaced: Bool, estimate: Int)
}

/// A file of a format that only a decoder knows, whose header has been read.
struct UnknownArrival: FileArrival {
  var hasHeader: Bool { true }

  mutating func advance(_ bytes: ByteReader) {}

  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart {
    .rows(isInterlaced: false, estimate: info.storedWidth * info.storedHeight)
  }
}

/// PNG: chunks, up to the first with image data, or to the end of an animation.
struct PNGArrival: FileArrival {
  private(set) var hasHeader = false
  private(set) var frames = ArrivedFrames()
  private var offset = PNGHeader.signature.count
  private var isAnimated = false
  private var isInFrame = false

  mutating func advance(_ bytes: ByteReader) {
    typealias Chunk = PNGHeader.Chunk
    while !hasHeader || isAnimated, let length = bytes.bigEndian32(at: offset),
      let type = bytes.bigEndian32(at: offset + 4)
    {
      switch type {
      case Chunk.acTL: isAnimated = true
      case Chunk.IDAT: hasHeader = true
      case Chunk.fcTL, Chunk.IEND:
        // A frame is whole where something else begins.
        if isInFrame { frames = ArrivedFrames(count: frames.count + 1, byteCount: offset + 8) }
        isInFrame = type == Chunk.fcTL
      default: break
      }
      offset += 12 + Int(length)
    }
  }

  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart {
    if frames.count > 0 { return .stage(1, byteCount: frames.byteCount) }
    // Photographs are compressed to about half.
    let estimate = info.storedWidth * info.storedHeight * (info.hasAlpha ? 4 : 3) / 2
    return .rows(isInterlaced: !info.streamsRows, estimate: estimate)
  }
}

/// WebP: chunks, up to the picture's chunk, or to the end of an animation.
struct WebPArrival: FileArrival {
  private(set) var hasHeader = false
  private(set) var frames = ArrivedFrames()
  private var offset = 12
  private var fileLength = 0
  private var isAnimated = false
  private var lacksOrientation = false

  mutating func advance(_ bytes: ByteReader) {
    while !hasHeader || isAnimated, let type = bytes.ascii(at: offset, count: 4),
      let length = bytes.littleEndian32(at: offset + 4)
    {
      // A frame header has at most ten bytes.
      let body = bytes.slice(offset + 8, 10)
      let end = offset + 8 + Int(length)
      switch type {
      case "VP8 ", "VP8L", "ANMF":
        guard body.count == min(10, Int(length)) else { return }
        fileLength = Int(bytes.littleEndian32(at: 4) ?? 0) + 8
        isAnimated = isAnimated || type == "ANMF"
        hasHeader = true
        guard type == "ANMF" else { break }
        guard bytes.count >= end else { return }
        frames = ArrivedFrames(count: frames.count + 1, byteCount: end)
      case "VP8X":
        guard let flags = body.byte(at: 0) else { return }
        isAnimated = flags & 0x02 != 0
        lacksOrientation = flags & 0x08 != 0
      case "EXIF":
        guard bytes.count >= end else { return }
        lacksOrientation = false
      default: break
      }
      offset = end + Int(length & 1)
    }
  }

  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart {
    // EXIF, which has the orientation, follows the picture.
    if lacksOrientation { return .nothing }
    guard isAnimated else { return .rows(isInterlaced: false, estimate: fileLength) }
    return frames.count > 0 ? .stage(1, byteCount: frames.byteCount) : .nothing
  }
}

/// GIF: blocks, up to the end of the last frame.
struct GIFArrival: FileArrival {
  private(set) var hasHeader = false
  private(set) var frames = ArrivedFrames()
  private var offset = 0
  private var isInSubBlocks = false
  private var isInterlaced = false
  private var isInFrame = false
  private var isBehindFrame = false

  mutating func advance(_ bytes: ByteReader) {
    if offset == 0 {
      guard let packed = bytes.byte(at: 10) else { return }
      offset = 13 + Self.paletteLength(packed)
    }
    while let byte = bytes.byte(at: offset) {
      if isInSubBlocks {
        offset += 1 + Int(byte)
        guard byte == 0 else { continue }
        if isInFrame { frames = ArrivedFrames(count: frames.count + 1, byteCount: offset) }
        (isInSubBlocks, isInFrame) = (false, false)
        continue
      }
      if frames.count > 0, byte != Self.trailer { isBehindFrame = true }
      if byte == Self.image {
        guard let packed = bytes.byte(at: offset + 9) else { return }
        if !hasHeader { isInterlaced = packed & 0x40 != 0 }
        (hasHeader, isInFrame, isInSubBlocks) = (true, true, true)
        offset += 10 + Self.paletteLength(packed) + 1
      } else if byte == Self.extensionBlock {
        isInSubBlocks = true
        offset += 2
      } else {
        return
      }
    }
  }

  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart {
    // After a still picture nothing follows that is worth a preview.
    if isBehindFrame { return .stage(1, byteCount: frames.byteCount) }
    return .rows(isInterlaced: isInterlaced, estimate: info.storedWidth * info.storedHeight / 2)
  }

  private static let extensionBlock: UInt8 = 0x21
  private static let image: UInt8 = 0x2C
  private static let trailer: UInt8 = 0x3B

  private static func paletteLength(_ packed: UInt8) -> Int { packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1) }
}
