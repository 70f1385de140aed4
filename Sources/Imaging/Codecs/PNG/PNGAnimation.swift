/// The frames of an APNG (W3C PNG, third edition, chapter on animation), up to one of them.
struct PNGAnimation {
  struct Frame {
    let place: FramePlace
    /// Chunks, and their compressed pixels without the sequence number before them.
    fileprivate(set) var pieces: [(chunk: PNGHeader.Chunk, pixels: ByteReader)] = []
    fileprivate(set) var isCut = false

    /// The place; a frame that is cut does not replace what is below.
    var ownPlace: FramePlace {
      var place = place
      if isCut { place.blend = .over }
      return place
    }
  }

  let width: Int
  let height: Int
  private(set) var frames: [Frame] = []
  /// The reason why there are no more frames.
  private(set) var ending = Self.corrupt("the file has no frames")
  private let header: ByteReader
  /// The chunks that every frame needs: the palette and its transparency.
  private var shared: [UInt8] = []

  /// Reads up to and including the frame `last`.
  ///
  /// A file that lacks frames, or breaks the rules, has those before.
  init(_ bytes: ByteReader, _ info: ImageInfo, through last: Int) {
    (width, height) = (info.storedWidth, info.storedHeight)
    header = bytes.slice(16, 13)
    var (endsEarly, isBroken, isLastWhole) = (true, false, false)
    walk: for chunk in PNGHeader.chunks(bytes) {
      typealias Chunk = PNGHeader.Chunk
      switch chunk.type {
      case Chunk.PLTE where shared.isEmpty && chunk.body.count <= 768,
        Chunk.tRNS where shared.count < 1024 && chunk.body.count <= 256:
        // Longer ones are invalid, and every frame would carry them.
        shared += PNGChecksum.chunk(chunk.type, [chunk.body])
      case Chunk.fcTL:
        if frames.count > last {
          endsEarly = false
          break walk
        }
        // A frame is whole where the next one begins, even if no more of that is there.
        isLastWhole = true
        do throws(ImageError) {
          try add(chunk)
        } catch {
          (ending, endsEarly, isBroken) = (error, false, true)
          break walk
        }
      case Chunk.IDAT where !frames.isEmpty, Chunk.fdAT where !frames.isEmpty:
        append(chunk, from: chunk.type == Chunk.fdAT ? 4 : 0)
        isLastWhole = false
      case Chunk.IEND:
        endsEarly = false
        break walk
      default: break
      }
    }
    if !endsEarly, !isBroken { ending = Self.corrupt("frame \(frames.count) is missing") }
    if endsEarly {
      if frames.last?.pieces.isEmpty == true { frames.removeLast() }
      if !frames.isEmpty, !isLastWhole { frames[frames.count - 1].isCut = true }
      ending = ImageError(.truncated, format: .apng, "truncated: the file ends before frame \(frames.count)")
    }
  }

  private mutating func add(_ chunk: PNGHeader.Chunk) throws(ImageError) {
    let body = chunk.body
    guard let width = body.bigEndian32(at: 4), let height = body.bigEndian32(at: 8),
      let left = body.bigEndian32(at: 12),
      let top = body.bigEndian32(at: 16), let disposal = body.byte(at: 24), let blend = body.byte(at: 25)
    else {
      // The previous frame may be all that the caller needs.
      guard !chunk.isWhole else { throw Self.corrupt("the header of a frame has \(body.count) bytes") }
      return
    }
    guard width > 0, height > 0, Int(left) + Int(width) <= self.width, Int(top) + Int(height) <= self.height,
      let disposal = FramePlace.Disposal(rawValue: disposal), let blend = FramePlace.Blend(rawValue: blend)
    else { throw Self.corrupt("a frame has \(width)x\(height) pixels at \(left), \(top)") }
    frames.append(
      Frame(
        place: FramePlace(
          left: Int(left),
          top: Int(top),
          width: Int(width),
          height: Int(height),
          disposal: disposal,
          blend: blend,
        )
      )
    )
  }

  private mutating func append(_ chunk: PNGHeader.Chunk, from start: Int) {
    let last = frames.count - 1
    frames[last].pieces.append((chunk, chunk.body.slice(start, chunk.body.count)))
    if !chunk.isWhole { frames[last].isCut = true }
  }

  /// Returns a frame as a PNG file of its own.
  func file(of number: Int) throws(ImageError) -> [UInt8] {
    let frame = frames[number]
    guard !frame.pieces.isEmpty else { throw Self.corrupt("frame \(number) is missing") }
    for (chunk, _) in frame.pieces where chunk.isWhole {
      guard chunk.checksum == PNGChecksum.of(chunk.type, [chunk.body]) else {
        throw Self.corrupt("the checksum of frame \(number) is wrong")
      }
    }
    var size: [UInt8] = []
    for length in [frame.place.width, frame.place.height] {
      for shift in [24, 16, 8, 0] { size.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
    let rest = header.slice(8, 5)
    var file = PNGHeader.signature
    file += size.reading { PNGChecksum.chunk(PNGHeader.Chunk.IHDR, [$0, rest]) }
    file += shared + PNGChecksum.chunk(PNGHeader.Chunk.IDAT, frame.pieces.map(\.pixels))
    // Without an end chunk the reader reports the frame as incomplete, not as wrong.
    if frame.isCut { file.removeLast(4) } else { file += PNGChecksum.chunk(PNGHeader.Chunk.IEND, []) }
    return file
  }

  static func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, format: .apng, "corrupt: \(reason)") }
}

/// The checksum of PNG chunks: CRC-32 of ISO 3309.
enum PNGChecksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
  }

  static func of(_ type: UInt32, _ pieces: [ByteReader]) -> UInt32 {
    let table = table
    var crc = ~UInt32(0)
    for shift in [24, 16, 8, 0] as [UInt32] { crc = crc >> 8 ^ table[Int((crc ^ type >> shift) & 0xFF)] }
    for piece in pieces {
      for index in 0..<piece.count { crc = crc >> 8 ^ table[Int((crc ^ UInt32(piece.bytes[index])) & 0xFF)] }
    }
    return ~crc
  }

  /// Returns a chunk with its length and checksum, by default the right one.
  static func chunk(_ type: UInt32, _ pieces: [ByteReader], checksum: UInt32? = nil) -> [UInt8] {
    func big(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    var chunk = big(UInt32(truncatingIfNeeded: pieces.reduce(0) { $0 + $1.count })) + big(type)
    for piece in pieces { chunk += piece.copy() }
    return chunk + big(checksum ?? of(type, pieces))
  }
}
