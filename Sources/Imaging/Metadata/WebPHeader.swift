import VitrineRuntime

/// The chunks of a WebP file (RFC 9649, section 2), read without decoding.
struct WebPHeader {
  var orientation = Orientation.up
  var profile: ColorProfile?
  var isAnimated = false
  /// True if the file declares more bytes than the data has.
  let isTruncated: Bool
  var frameCount = 0
  /// The duration of one loop, in seconds.
  var duration = 0.0
  /// The duration of each frame, in seconds; empty unless requested.
  var delays: [Double] = []
  /// The number of loops; 0 for endless.
  var loopCount = 1

  /// The first frame of an animation; `nil` if its header is not whole.
  private(set) var firstFrame: Frame?

  /// A frame of an animation.
  struct Frame {
    let left: Int
    let top: Int
    let width: Int
    let height: Int
    /// The picture's chunks.
    let content: ByteReader

    /// Returns `nil` if the frame is cut or extends beyond a canvas of this size.
    init?(_ body: ByteReader, canvasWidth: Int, canvasHeight: Int) {
      guard let x = body.littleEndian24(at: 0), let y = body.littleEndian24(at: 3),
        let width = body.littleEndian24(at: 6), let height = body.littleEndian24(at: 9), body.count > 16
      else { return nil }
      (left, top) = (2 * Int(x), 2 * Int(y))
      (self.width, self.height) = (Int(width) + 1, Int(height) + 1)
      guard left + self.width <= canvasWidth, top + self.height <= canvasHeight else { return nil }
      content = body.slice(16, body.count)
    }

    /// Returns `true` if the frame is the whole picture.
    func covers(_ info: ImageInfo) -> Bool { width == info.storedWidth && height == info.storedHeight }
  }

  init(_ bytes: ByteReader, metadataLimit: Int, collectsDelays: Bool = false) {
    isTruncated = Int(bytes.littleEndian32(at: 4) ?? 0) + 8 > bytes.count
    var orientations: (exif: Orientation?, xmp: Orientation?)
    var canvas = (width: 0, height: 0)
    Self.forEachChunk(bytes) { type, body in
      switch type {
      case "VP8X":
        isAnimated = (body.byte(at: 0) ?? 0) & 0x02 != 0
        canvas = (Int(body.littleEndian24(at: 4) ?? 0) + 1, Int(body.littleEndian24(at: 7) ?? 0) + 1)
      case "EXIF" where orientations.exif == nil: orientations.exif = EXIF.orientation(block: body)
      case "XMP " where orientations.xmp == nil: orientations.xmp = XMP.orientation(body)
      case "ICCP" where body.count <= metadataLimit: profile = ColorProfile(data: Data(body.copy()))
      case "ANIM": loopCount = Int(body.littleEndian16(at: 4) ?? 1)
      case "ANMF":
        frameCount += 1
        if frameCount == 1 { firstFrame = Frame(body, canvasWidth: canvas.width, canvasHeight: canvas.height) }
        let delay = FrameDelay.shown(Double(body.littleEndian24(at: 12) ?? 0) / 1000)
        duration += delay
        if collectsDelays { delays.append(delay) }
      default: break
      }
    }
    orientation = orientations.exif ?? orientations.xmp ?? .up
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
