/// The frames of a GIF (GIF89a specification), up to one of them, without their pixels.
struct GIFFrames {
  struct Frame {
    let place: FramePlace
    /// True if the frame's pixels are in the file as a whole.
    let isWhole: Bool
    let isInterlaced: Bool
    let transparent: UInt8?
    /// The colours, three bytes each: 2 to 256 of them, a power of two.
    let palette: ByteReader
    /// The offset of the frame's descriptor.
    let offset: Int
    /// The code size and the blocks of compressed pixels, with the empty one that ends them.
    let data: ByteReader
  }

  private(set) var frames: [Frame] = []
  private(set) var places: [FramePlace]
  /// The reason why there are no more frames.
  private(set) var ending = Self.corrupt("the file ends before the requested frame")

  /// Reads up to and including the frame `last`.
  ///
  /// A file that lacks frames, or breaks the rules, has those before.
  init(_ bytes: ByteReader, through last: Int) {
    places = []
    do throws(ImageError) {
      try read(bytes, through: last)
    } catch {
      ending = error
    }
    places = frames.map(\.place)
  }

  private mutating func read(_ bytes: ByteReader, through last: Int) throws(ImageError) {
    let screen = bytes.byte(at: 10) ?? 0
    let shared = bytes.slice(13, GIFHeader.paletteLength(screen))
    var offset = 13 + GIFHeader.paletteLength(screen)
    var control: (transparent: UInt8?, disposal: FramePlace.Disposal) = (nil, .none)
    while frames.count <= last {
      guard let introducer = bytes.byte(at: offset) else { throw Self.truncated(frames.count) }
      switch introducer {
      case 0x21:
        if bytes.byte(at: offset + 1) == 0xF9, let flags = bytes.byte(at: offset + 3) {
          let disposals: [UInt8: FramePlace.Disposal] = [2: .background, 3: .previous]
          control.transparent = flags & 1 != 0 ? bytes.byte(at: offset + 6) : nil
          control.disposal = disposals[flags >> 2 & 7] ?? .none
        }
        offset = GIFHeader.afterSubBlocks(bytes, offset + 2)
      case 0x2C:
        let frame = try frame(bytes, at: offset, shared, control.transparent, control.disposal)
        frames.append(frame)
        offset = GIFHeader.afterSubBlocks(
          bytes,
          offset + 10 + GIFHeader.paletteLength(bytes.byte(at: offset + 9) ?? 0) + 1,
        )
        control = (nil, .none)
      case 0x3B: return
      default: throw Self.corrupt("an unknown block follows frame \(frames.count)")
      }
    }
  }

  private func frame(
    _ bytes: ByteReader,
    at offset: Int,
    _ shared: ByteReader,
    _ transparent: UInt8?,
    _ disposal: FramePlace.Disposal,
  ) throws(ImageError) -> Frame {
    guard let left = bytes.littleEndian16(at: offset + 1), let top = bytes.littleEndian16(at: offset + 3),
      let width = bytes.littleEndian16(at: offset + 5), let height = bytes.littleEndian16(at: offset + 7),
      let packed = bytes.byte(at: offset + 9)
    else { throw Self.truncated(frames.count) }
    guard width > 0, height > 0 else { throw Self.corrupt("a frame has \(width)x\(height) pixels") }
    let ownLength = GIFHeader.paletteLength(packed)
    let palette = ownLength > 0 ? bytes.slice(offset + 10, ownLength) : shared
    let start = offset + 10 + ownLength
    let end = GIFHeader.afterSubBlocks(bytes, start + 1)
    // The last block is the empty one.
    let isWhole = end <= bytes.count && bytes.byte(at: end - 1) == 0
    // Without a transparent colour it hides what is below, unless pixels are missing.
    let isOpaque = transparent == nil && isWhole
    let isScreen = frames.isEmpty && GIFHeader.exceedsScreen(bytes, Int(width), Int(height))
    return Frame(
      place: FramePlace(
        left: isScreen ? 0 : Int(left),
        top: isScreen ? 0 : Int(top),
        width: Int(width),
        height: Int(height),
        disposal: disposal,
        blend: isOpaque ? .source : .over,
      ),
      isWhole: isWhole,
      isInterlaced: packed & 0x40 != 0,
      transparent: transparent,
      palette: palette,
      offset: offset,
      data: bytes.slice(start, end - start),
    )
  }

  static func truncated(_ frame: Int) -> ImageError {
    ImageError(.truncated, format: .gif, "truncated: the file ends inside frame \(frame)")
  }

  static func corrupt(_ reason: String) -> ImageError {
    ImageError(.corrupt, format: .gif, "corrupt: \(reason)")
  }
}

extension GIFDecoder: FrameDecoding {
  /// Opens the frames of an animation.
  package func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)? {
    guard info.frameCount > 1 else { return nil }
    return try CanvasFrames(unsafe ByteReader(bytes), info, limits) { (bytes, info) in
      GIFPictures(bytes, through: info.frameCount - 1)
    }
  }
}
