/// The pictures of a WebP file (RFC 9649), up to one of them, for a decoder that is given one at a time.
struct WebPFile {
  struct Frame {
    let place: FramePlace
    /// The chunks of the picture: `ALPH` where there is one, then `VP8 ` or `VP8L`.
    fileprivate let chunks: [(type: String, body: ByteReader)]
    let picture: Picture
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

  /// Reads up to and including the picture `last`.
  init(_ bytes: ByteReader, _ info: ImageInfo, through last: Int) throws(ImageError) {
    let end = Int(bytes.littleEndian32(at: 4) ?? 0) + 8
    guard info.frameCount > 1 || WebPHeader(bytes, metadataLimit: 0).isAnimated else {
      // Nothing after the end that the file declares belongs to it.
      let frame = try Self.frame(bytes.slice(0, end), from: 12, at: nil)
      guard frame.picture.width == info.storedWidth, frame.picture.height == info.storedHeight else {
        throw Self.corrupt("two headers disagree")
      }
      frames = [frame]
      return
    }
    var offset = 12
    while frames.count <= last, let type = bytes.ascii(at: offset, count: 4),
      let length = bytes.littleEndian32(at: offset + 4)
    {
      let body = bytes.slice(offset + 8, Int(length))
      offset += 8 + Int(length) + Int(length & 1)
      guard type == "ANMF" else { continue }
      guard body.count == Int(length) else { throw Self.truncated(frames.count) }
      guard let x = body.littleEndian24(at: 0), let y = body.littleEndian24(at: 3),
        let width = body.littleEndian24(at: 6), let height = body.littleEndian24(at: 9), let flags = body.byte(at: 15)
      else { throw Self.corrupt("a frame has no header") }
      let place = FramePlace(
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
      frames.append(try Self.frame(body, from: 16, at: place))
    }
    guard frames.count > last else { throw Self.truncated(frames.count) }
  }

  /// Reads the chunks of one picture.
  private static func frame(_ bytes: ByteReader, from start: Int, at place: FramePlace?) throws(ImageError) -> Frame {
    var chunks: [(type: String, body: ByteReader)] = []
    var offset = start
    while let type = bytes.ascii(at: offset, count: 4), let length = bytes.littleEndian32(at: offset + 4) {
      let body = bytes.slice(offset + 8, Int(length))
      offset += 8 + Int(length) + Int(length & 1)
      guard ["ALPH", "VP8 ", "VP8L"].contains(type) else { continue }
      guard body.count == Int(length) else { throw truncated(0) }
      chunks.append((type, body))
      guard type != "ALPH" else { continue }
      guard let picture = Picture(type, body), picture.partitionLength <= body.count else {
        throw corrupt("the header of a picture")
      }
      let own = place ?? FramePlace(width: picture.width, height: picture.height)
      guard picture.width == own.width, picture.height == own.height else { throw corrupt("two headers disagree") }
      return Frame(place: own, chunks: chunks, picture: picture)
    }
    throw truncated(0)
  }

  /// Returns a picture as a file of its own.
  func file(of frame: Frame) -> [UInt8] {
    var content: [UInt8] = []
    if frame.chunks.count > 1 {
      let size = [frame.place.width - 1, frame.place.height - 1].flatMap { [UInt8].little($0, count: 3) }
      // The flag of alpha, and three reserved bytes.
      content += Self.chunk("VP8X", [0x10, 0, 0, 0] + size)
    }
    for chunk in frame.chunks { content += Self.chunk(chunk.type, chunk.body.copy()) }
    return Array("RIFF".utf8) + .little(content.count + 4, count: 4) + Array("WEBP".utf8) + content
  }

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    Array(type.utf8) + .little(body.count, count: 4) + body + [UInt8](repeating: 0, count: body.count & 1)
  }

  fileprivate static func truncated(_ frame: Int) -> ImageError {
    ImageError(.truncated, format: .webp, "truncated: the file ends in frame \(frame)")
  }

  fileprivate static func corrupt(_ reason: String) -> ImageError {
    ImageError(.corrupt, format: .webp, "corrupt: \(reason)")
  }
}

extension WebPDecoder {
  /// Reads the size of the picture or canvas, and whether it has an alpha channel.
  static func features(
    of bytes: UnsafeRawBufferPointer
  ) throws(ImageError) -> (width: Int, height: Int, hasAlpha: Bool) {
    let reader = unsafe ByteReader(bytes)
    guard let type = reader.ascii(at: 12, count: 4), let length = reader.littleEndian32(at: 16) else {
      throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header")
    }
    let body = reader.slice(20, Int(length))
    if type == "VP8X" {
      guard let flags = body.byte(at: 0), let width = body.littleEndian24(at: 4),
        let height = body.littleEndian24(at: 7)
      else { throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header") }
      return (Int(width) + 1, Int(height) + 1, flags & 0x10 != 0)
    }
    guard body.count >= min(10, Int(length)) else {
      throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header")
    }
    guard let picture = WebPFile.Picture(type, body) else { throw WebPFile.corrupt("the header of the picture") }
    return (picture.width, picture.height, picture.hasAlpha)
  }
}
