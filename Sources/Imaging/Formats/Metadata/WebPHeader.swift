import VitrineRuntime

/// The chunks of a WebP file (RFC 9649, section 2), read without decoding.
struct WebPHeader {
  var orientation = Orientation.up
  var profile: ColorProfile?
  var isAnimated = false
  var frameCount = 0
  /// The duration of one loop, in seconds.
  var duration = 0.0
  /// The duration of each frame, in seconds; empty unless requested.
  var delays: [Double] = []
  /// The number of loops; 0 for endless.
  var loopCount = 1

  init(_ bytes: ByteReader, metadataLimit: Int, collectsDelays: Bool = false) {
    var orientations: (exif: Orientation?, xmp: Orientation?)
    Self.forEachChunk(bytes) { type, body in
      switch type {
      case "VP8X": isAnimated = (body.byte(at: 0) ?? 0) & 0x02 != 0
      case "EXIF" where orientations.exif == nil: orientations.exif = EXIF.orientation(block: body)
      case "XMP " where orientations.xmp == nil: orientations.xmp = XMP.orientation(body)
      case "ICCP" where body.count <= metadataLimit: profile = ColorProfile(data: Data(body.copy()))
      case "ANIM": loopCount = Int(body.littleEndian16(at: 4) ?? 1)
      case "ANMF":
        frameCount += 1
        let delay = FrameDelay.shown(Double(body.littleEndian24(at: 12) ?? 0) / 1000)
        duration += delay
        if collectsDelays { delays.append(delay) }
      default: break
      }
    }
    orientation = orientations.exif ?? orientations.xmp ?? .up
  }

  /// Returns `true` if a file with this beginning has one picture (RFC 9649, 2.5 to 2.7): the bit for an animation is in
  /// the flags of an extended file.
  static func isStill(_ bytes: ByteReader) -> Bool {
    bytes.matches("VP8 ", at: 12) || bytes.matches("VP8L", at: 12)
      || bytes.matches("VP8X", at: 12) && bytes.byte(at: 20).map { $0 & 2 == 0 } ?? false
  }

  /// Calls `body` with every chunk that begins within the data; the last one may be truncated.
  static func forEachChunk(_ bytes: ByteReader, _ body: (_ type: String, _ body: ByteReader) -> Void) {
    var offset = 12
    while let type = bytes.ascii(at: offset, count: 4), let length = bytes.littleEndian32(at: offset + 4) {
      body(type, bytes.slice(offset + 8, Int(length)))
      offset += 8 + Int(length) + Int(length & 1)
    }
  }
}
