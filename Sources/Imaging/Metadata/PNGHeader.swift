import VitrineRuntime

/// The chunks of a PNG file (W3C PNG, third edition), walked without inflating any.
struct PNGHeader {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  var width = 0
  var height = 0
  var bitDepth = 8
  var colorType: UInt8 = 0
  var isInterlaced = false
  var hasTransparency = false
  var hasProfile = false
  var orientation = Orientation.up
  /// 0 where there is no animation.
  var frameCount = 0
  /// Seconds, once through.
  var duration = 0.0

  /// Bits of one component of a pixel; a palette's colours have 8.
  var bitsPerComponent: Int { colorType == 3 ? 8 : bitDepth }
  var hasAlpha: Bool { colorType == 4 || colorType == 6 || hasTransparency }

  init(_ bytes: ByteReader) throws(ImageError) {
    guard bytes.matches("IHDR", at: 12) else {
      throw ImageError(
        bytes.count < 16 ? .truncated : .corrupt,
        format: .png,
        bytes.count < 16 ? "truncated: the file ends within its header" : "corrupt: the first chunk is not IHDR",
      )
    }
    for (type, body) in Self.chunks(bytes) {
      switch type {
      case Chunk.IHDR:
        guard let width = body.bigEndian32(at: 0), let height = body.bigEndian32(at: 4), let depth = body.byte(at: 8),
          let colorType = body.byte(at: 9), let interlace = body.byte(at: 12)
        else { throw ImageError(.truncated, format: .png, "truncated: the file ends within its header") }
        (self.width, self.height) = (Int(width), Int(height))
        (bitDepth, self.colorType, isInterlaced) = (Int(depth), colorType, interlace != 0)
      case Chunk.tRNS: hasTransparency = true
      case Chunk.iCCP: hasProfile = true
      case Chunk.eXIf: orientation = EXIF.orientation(block: body)
      case Chunk.acTL: frameCount = Int(body.bigEndian32(at: 0) ?? 0)
      case Chunk.fcTL:
        if let numerator = body.bigEndian16(at: 20), let denominator = body.bigEndian16(at: 22) {
          duration += FrameDelay.shown(Double(numerator) / Double(denominator == 0 ? 100 : denominator))
        }
      default: break
      }
    }
    if frameCount == 0 { duration = 0 }
  }

  /// Whether an `acTL` chunk stands before the first image data.
  static func isAnimated(_ bytes: ByteReader) -> Bool {
    for (type, body) in chunks(bytes) {
      if type == Chunk.acTL { return (body.bigEndian32(at: 0) ?? 0) > 0 }
      if type == Chunk.IDAT { return false }
    }
    return false
  }

  /// Every chunk that begins within the data, the last one perhaps cut short.
  private static func chunks(_ bytes: ByteReader) -> some Sequence<(type: UInt32, body: ByteReader)> {
    sequence(state: signature.count) { offset -> (type: UInt32, body: ByteReader)? in
      guard let length = bytes.bigEndian32(at: offset), let type = bytes.bigEndian32(at: offset + 4) else {
        return nil
      }
      let body = bytes.slice(offset + 8, Int(length))
      offset += 12 + Int(length)
      return (type, body)
    }
  }
}

/// The types of chunks that are looked at, four letters in a number.
private enum Chunk {
  static let IHDR = type("IHDR")
  static let IDAT = type("IDAT")
  static let tRNS = type("tRNS")
  static let iCCP = type("iCCP")
  static let eXIf = type("eXIf")
  static let acTL = type("acTL")
  static let fcTL = type("fcTL")

  private static func type(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// How long a frame is shown.
enum FrameDelay {
  /// Browsers show frames of 0.01 s and less for 0.1 s, and animations are made with that in mind.
  static func shown(_ seconds: Double) -> Double { seconds <= 0.011 ? 0.1 : seconds }
}
