/// The pictures of a WebP file (RFC 9649), up to one of them.
struct WebPFrames {
  struct Frame {
    let place: FramePlace
    /// The picture's part of the file.
    let content: ByteReader
    /// The chunks of the picture: `ALPH` where there is one, then `VP8 ` or `VP8L`.
    let chunks: [(type: String, body: ByteReader)]
    let picture: Picture
    /// True if all bytes of the picture are in the file.
    let isWhole: Bool

    /// True if a pixel can be transparent.
    var hasAlpha: Bool { chunks.count > 1 || picture.hasAlpha }
  }

  /// The header of a picture's own data.
  struct Picture: Equatable {
    let width: Int
    let height: Int
    /// True if it may be transparent without a chunk for alpha.
    let hasAlpha: Bool
    /// The bytes of the first partition, which follow ten of a header; 0 for a lossless picture.
    let partitionLength: Int

    /// Reads the first bytes of `VP8 ` (RFC 6386, 9.1) or `VP8L` (RFC 9649, 3.4); `nil` if they are damaged.
    init?(_ type: String, _ body: ByteReader) {
      if type == "VP8 " {
        guard let tag = body.littleEndian24(at: 0), tag & 1 == 0, body.byte(at: 3) == 0x9D, body.byte(at: 4) == 1,
          body.byte(at: 5) == 0x2A, let width = body.littleEndian16(at: 6), let height = body.littleEndian16(at: 8)
        else { return nil }
        partitionLength = Int(tag >> 5)
        // The two upper bits are a scale for viewers.
        (self.width, self.height, hasAlpha) = (Int(width & 0x3FFF), Int(height & 0x3FFF), false)
      } else {
        guard type == "VP8L", body.byte(at: 0) == 0x2F, let bits = body.littleEndian32(at: 1), bits >> 29 == 0 else {
          return nil
        }
        (width, height) = (Int(bits & 0x3FFF) + 1, Int(bits >> 14 & 0x3FFF) + 1)
        (hasAlpha, partitionLength) = (bits >> 28 & 1 != 0, 0)
      }
      guard width > 0, height > 0 else { return nil }
    }
  }

  private(set) var frames: [Frame] = []
  private(set) var places: [FramePlace]
  /// The reason why there are no more pictures.
  private(set) var ending = Self.corrupt("the file has no frames")

  /// Reads up to and including the picture `last`.
  ///
  /// A file that lacks pictures, or breaks the rules, has those before.
  init(_ bytes: ByteReader, _ info: ImageInfo, through last: Int) {
    places = []
    do throws(ImageError) {
      if info.frameCount > 1 || WebPHeader(bytes, metadataLimit: 0).isAnimated {
        try readAnimation(bytes, info, through: last)
      } else {
        try readStill(bytes, info)
      }
      ending = Self.truncated(frames.count)
    } catch {
      ending = error
    }
    places = frames.map(\.place)
  }

  private mutating func readStill(_ bytes: ByteReader, _ info: ImageInfo) throws(ImageError) {
    let end = Int(bytes.littleEndian32(at: 4) ?? 0) + 8
    // Nothing after the end that the file declares belongs to it.
    let frame = try Self.frame(bytes.slice(12, end - 12), at: nil, number: 0)
    guard frame.isWhole else { throw Self.truncated(0) }
    guard frame.picture.width == info.storedWidth, frame.picture.height == info.storedHeight else {
      throw Self.corrupt("two headers disagree")
    }
    frames = [frame]
  }

  private mutating func readAnimation(_ bytes: ByteReader, _ info: ImageInfo, through last: Int) throws(ImageError) {
    var offset = 12
    while frames.count <= last, let type = bytes.ascii(at: offset, count: 4),
      let length = bytes.littleEndian32(at: offset + 4)
    {
      let body = bytes.slice(offset + 8, Int(length))
      offset += 8 + Int(length) + Int(length & 1)
      guard type == "ANMF" else { continue }
      guard let x = body.littleEndian24(at: 0), let y = body.littleEndian24(at: 3),
        let width = body.littleEndian24(at: 6), let height = body.littleEndian24(at: 9), let flags = body.byte(at: 15)
      else { throw body.count < Int(length) ? Self.truncated(frames.count) : Self.corrupt("a frame has no header") }
      var place = FramePlace(
        left: 2 * Int(x),
        top: 2 * Int(y),
        width: Int(width) + 1,
        height: Int(height) + 1,
        disposal: flags & 1 != 0 ? .background : .none,
        blend: flags & 2 != 0 ? .source : .over,
      )
      guard place.left + place.width <= info.storedWidth, place.top + place.height <= info.storedHeight else {
        throw Self.corrupt("a frame has \(place.width)x\(place.height) pixels at \(place.left), \(place.top)")
      }
      let frame = try Self.frame(body.slice(16, body.count), at: place, number: frames.count)
      // What is opaque hides what is below.
      if !frame.hasAlpha { place.blend = .source }
      frames.append(
        Frame(
          place: place,
          content: frame.content,
          chunks: frame.chunks,
          picture: frame.picture,
          isWhole: frame.isWhole,
        )
      )
    }
  }

  /// Reads the chunks of one picture.
  private static func frame(
    _ bytes: ByteReader,
    at place: FramePlace?,
    number: Int,
  ) throws(ImageError) -> Frame {
    var chunks: [(type: String, body: ByteReader)] = []
    var offset = 0
    while let type = bytes.ascii(at: offset, count: 4), let length = bytes.littleEndian32(at: offset + 4) {
      let body = bytes.slice(offset + 8, Int(length))
      offset += 8 + Int(length) + Int(length & 1)
      guard ["ALPH", "VP8 ", "VP8L"].contains(type) else { continue }
      let isWhole = body.count == Int(length)
      chunks.append((type, body))
      guard type != "ALPH" else {
        if !isWhole { throw truncated(number) }
        continue
      }
      guard let picture = Picture(type, body), picture.partitionLength <= Int(length) else {
        throw isWhole ? corrupt("the header of a picture") : truncated(number)
      }
      let own = place ?? FramePlace(width: picture.width, height: picture.height)
      guard picture.width == own.width, picture.height == own.height else { throw corrupt("two headers disagree") }
      return Frame(place: own, content: bytes, chunks: chunks, picture: picture, isWhole: isWhole)
    }
    throw truncated(number)
  }

  static func truncated(_ frame: Int) -> ImageError {
    ImageError(.truncated, format: .webp, "truncated: the file ends in frame \(frame)")
  }

  static func corrupt(_ reason: String) -> ImageError {
    ImageError(.corrupt, format: .webp, "corrupt: \(reason)")
  }
}

extension WebPFrames {
  /// Returns the picture `number`.
  func frame(_ number: Int) throws(ImageError) -> Frame {
    guard frames.indices.contains(number) else { throw ending }
    return frames[number]
  }
}

extension WebPFrames: StoredFrames {
  func draw(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    let rows = try open(frames[frame], request.unscaled)
    try canvas.draw(places[frame], from: rows, format: .webp, request.control)
  }
}

/// Frames that all hide those before them, which need no canvas and may be downsampled.
private final class WholeWebPFrames: FrameReader {
  private let frames: WebPFrames

  /// Returns `nil` for frames that need a canvas.
  init?(_ frames: WebPFrames, _ info: ImageInfo) {
    let areWhole = frames.places.allSatisfy {
      $0.covers(info.storedWidth, info.storedHeight) && $0.blend == .source && $0.disposal != .previous
    }
    guard areWhole else { return nil }
    self.frames = frames
  }

  func open(_ request: RowRequest) throws(ImageError) -> any RowSource {
    try frames.open(frames.frame(request.frame), request)
  }
}

extension WebPDecoder: FrameDecoding {
  /// Opens the frames of an animation.
  package func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)? {
    guard info.frameCount > 1 else { return nil }
    let frames = unsafe WebPFrames(ByteReader(bytes), info, through: info.frameCount - 1)
    if let frames = WholeWebPFrames(frames, info) { return frames }
    return try CanvasFrames(unsafe ByteReader(bytes), info, limits) { (bytes, info) in
      WebPFrames(bytes, info, through: info.frameCount - 1)
    }
  }

  /// Opens one frame of an animation.
  func openFrame(_ bytes: ByteReader, _ request: RowRequest) throws(ImageError) -> any RowSource {
    let info = request.info
    let frames = WebPFrames(bytes, info, through: request.frame)
    let frame = try frames.frame(request.frame)
    // A frame that nothing shows through is drawn on nothing, so it needs no canvas.
    guard
      request.frame == 0 || (frame.place.covers(info.storedWidth, info.storedHeight) && frame.place.blend == .source)
    else { return try HeldRows.composed(frames, request) }
    if frame.place.covers(info.storedWidth, info.storedHeight) { return try frames.open(frame, request) }
    return PlacedRows(
      try frames.open(frame, request.unscaled),
      x: frame.place.left,
      y: frame.place.top,
      width: info.storedWidth,
      height: info.storedHeight,
    )
  }
}
