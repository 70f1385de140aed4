import VitrineRuntime

/// The chunks of a PNG file (W3C PNG, third edition), read without inflating any.
struct PNGHeader {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The last chunk, `IEND`.
  static let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]

  var width = 0
  var height = 0
  var bitDepth = 8
  var colorType: UInt8 = 0
  var isInterlaced = false
  var hasTransparency = false
  var hasProfile = false
  /// The contents of `cICP`, if supported.
  ///
  /// It takes precedence over a profile.
  private(set) var codePoints: ColorEncoding?
  /// The colours of high dynamic range, by `cICP`.
  private(set) var highRangeColors: HighRangeColors?
  private var isSRGB = false
  private var chromaticities: ColorEncoding?
  private var gamma: Double?
  var orientation = Orientation.up
  /// The number of frames; 0 without an animation.
  var frameCount = 0
  /// The duration of one loop, in seconds.
  var duration = 0.0
  /// The number of loops; 0 for endless.
  var loopCount = 1
  /// True if the first frame of the animation is the default picture, which a still PNG has.
  var beginsWithDefaultPicture = true

  /// True if a frame is disposed of by restoring the picture before it.
  private(set) var savesPicture = false

  /// The number of bits of a component; 8 for the colours of a palette.
  var bitsPerComponent: Int { colorType == 3 ? 8 : bitDepth }

  /// The colours that chunks declare, by the most reliable chunk.
  ///
  /// A gamma without primaries is ignored, as in many viewers: many files contain one by habit.
  var colorEncoding: ColorEncoding? {
    if let codePoints { return codePoints }
    guard !isSRGB, let gamma, var encoding = chromaticities else { return nil }
    // Files without an sRGB chunk declare sRGB as 1/2.2.
    encoding.transfer = abs(gamma - 1 / 2.2) < 0.001 ? .sRGB : .gamma(1 / gamma)
    return encoding
  }

  var hasAlpha: Bool { colorType == 4 || colorType == 6 || hasTransparency }

  init(_ bytes: ByteReader) throws(ImageError) {
    guard bytes.matches("IHDR", at: 12) else {
      throw ImageError(
        bytes.count < 16 ? .truncated : .corrupt,
        format: .png,
        bytes.count < 16 ? "truncated: the file ends inside its header" : "corrupt: the first chunk is not IHDR",
      )
    }
    var (frames, hasEnd) = (0, false)
    var orientations: (exif: Orientation?, xmp: Orientation?)
    var range = HighRangeChunks()
    for chunk in Self.chunks(bytes) {
      let body = chunk.body
      switch chunk.type {
      case Chunk.IHDR:
        guard let width = body.bigEndian32(at: 0), let height = body.bigEndian32(at: 4), let depth = body.byte(at: 8),
          let colorType = body.byte(at: 9), let interlace = body.byte(at: 12)
        else { throw ImageError(.truncated, format: .png, "truncated: the file ends inside its header") }
        // PNG, third edition, 11.2.1.
        guard [1, 2, 4, 8, 16].contains(depth) else {
          throw ImageError(.corrupt, format: .png, "corrupt: \(depth) bits of a component")
        }
        (self.width, self.height) = (Int(width), Int(height))
        (bitDepth, self.colorType, isInterlaced) = (Int(depth), colorType, interlace != 0)
      case Chunk.tRNS: hasTransparency = true
      case Chunk.iCCP: hasProfile = true
      case Chunk.cICP where body.byte(at: 2) == 0:
        range.codePoints = body.byte(at: 0).flatMap { primaries in body.byte(at: 1).map { (primaries, $0) } }
      case Chunk.cLLI: range.content = body.bigEndian32(at: 0).flatMap { $0 > 0 ? $0 : nil }
      case Chunk.mDCV: range.display = body.bigEndian32(at: 16)
      case Chunk.sRGB: isSRGB = true
      case Chunk.gAMA:
        // A gamma beyond these bounds is nonsense.
        gamma = body.bigEndian32(at: 0).map { Double($0) / 100_000 }.flatMap { (0.1...10).contains($0) ? $0 : nil }
      case Chunk.cHRM: chromaticities = Self.chromaticities(body)
      case Chunk.eXIf where orientations.exif == nil: orientations.exif = EXIF.orientation(block: body)
      // A compressed packet is rare, and reading a header inflates nothing.
      case Chunk.iTXt where orientations.xmp == nil && body.starts(with: Self.plainXMP):
        orientations.xmp = XMP.orientation(body)
      case Chunk.acTL:
        frameCount = Int(body.bigEndian32(at: 0) ?? 0)
        loopCount = Int(body.bigEndian32(at: 4) ?? 1)
      case Chunk.fcTL:
        frames += 1
        if body.byte(at: 24) == FramePlace.Disposal.previous.rawValue { savesPicture = true }
        duration += Self.delay(body) ?? 0
      case Chunk.IEND: hasEnd = true
      case Chunk.IDAT where frames == 0: beginsWithDefaultPicture = false
      default: break
      }
    }
    codePoints = range.codePoints.flatMap { ColorEncoding(primaries: $0.primaries, transfer: $0.transfer) }
    highRangeColors = range.colors
    orientation = orientations.exif ?? orientations.xmp ?? .up
    // A whole file has the frames that it has, whatever its header declares.
    if hasEnd { frameCount = min(frameCount, frames) }
    if frameCount == 0 { (duration, loopCount) = (0, 1) }
    // A declared animation without frames has only the default picture.
    if frames == 0, hasEnd { beginsWithDefaultPicture = true }
  }

  /// The chunks of high dynamic range, which may come in any order.
  private struct HighRangeChunks {
    var codePoints: (primaries: UInt8, transfer: UInt8)?
    /// The brightest of the content (`cLLI`) and of the mastering display (`mDCV`), in ten thousandths of a nit.
    var content: UInt32?
    var display: UInt32?

    var colors: HighRangeColors? {
      codePoints.flatMap { points in
        let peak = (content ?? display).map { Double($0) / 10_000 }
        return HighRangeColors(primaries: Int(points.primaries), transfer: Int(points.transfer), peak: peak)
      }
    }
  }

  /// The keyword of an uncompressed packet of XMP.
  private static let plainXMP = Array("XML:com.adobe.xmp\0\0".utf8)

  /// Returns the packet of XMP in the body of a text chunk; `nil` for other texts, and for a compressed packet.
  static func packet(_ body: ByteReader) -> ByteReader? {
    // Method, language and translated keyword follow, the last two with a zero at the end.
    guard body.starts(with: plainXMP), let language = body.firstOffset(of: UInt8(0), from: plainXMP.count + 1),
      let keyword = body.firstOffset(of: UInt8(0), from: language + 1)
    else { return nil }
    return body.slice(keyword + 1, body.count)
  }

  /// Returns the duration of each frame, in seconds.
  static func delays(_ bytes: ByteReader) -> [Double] {
    chunks(bytes).compactMap { $0.type == Chunk.fcTL ? delay($0.body) : nil }
  }

  private static func delay(_ frameControl: ByteReader) -> Double? {
    guard let numerator = frameControl.bigEndian16(at: 20), let denominator = frameControl.bigEndian16(at: 22) else {
      return nil
    }
    return FrameDelay.shown(Double(numerator) / Double(denominator == 0 ? 100 : denominator))
  }

  private static func chromaticities(_ body: ByteReader) -> ColorEncoding? {
    let values = (0..<8).compactMap { body.bigEndian32(at: $0 * 4).map { Double($0) / 100_000 } }
    guard values.count == 8 else { return nil }
    let points = (0..<4).map { ColorEncoding.Chromaticity(x: values[$0 * 2], y: values[$0 * 2 + 1]) }
    return ColorEncoding(red: points[1], green: points[2], blue: points[3], white: points[0])
  }

  /// Returns `true` if an `acTL` chunk precedes the first image data.
  static func isAnimated(_ bytes: ByteReader) -> Bool {
    for chunk in chunks(bytes) {
      if chunk.type == Chunk.acTL { return (chunk.body.bigEndian32(at: 0) ?? 0) > 0 }
      if chunk.type == Chunk.IDAT { return false }
    }
    return false
  }

  /// Returns every chunk that begins within the data; the last one may be truncated.
  static func chunks(_ bytes: ByteReader) -> Chunks { Chunks(bytes) }

  /// The chunks of a file, from its signature on.
  struct Chunks: Sequence, IteratorProtocol {
    private let bytes: ByteReader
    private var offset = signature.count

    fileprivate init(_ bytes: ByteReader) { self.bytes = bytes }

    mutating func next() -> Chunk? {
      guard let length = bytes.bigEndian32(at: offset), let type = bytes.bigEndian32(at: offset + 4) else {
        return nil
      }
      let start = offset + 8
      offset = start + Int(length) + 4
      return Chunk(
        type: type,
        body: bytes.slice(start, Int(length)),
        typeAndBody: bytes.slice(start - 4, Int(length) + 4),
        isWhole: offset <= bytes.count,
        checksum: bytes.bigEndian32(at: offset - 4) ?? 0,
      )
    }
  }

  /// A chunk of the file.
  struct Chunk {
    /// The four letters of the type, as a number.
    let type: UInt32
    let body: ByteReader
    /// The bytes of which `checksum` is the checksum.
    let typeAndBody: ByteReader
    let isWhole: Bool
    let checksum: UInt32

    static let IHDR = number("IHDR")
    static let PLTE = number("PLTE")
    static let IDAT = number("IDAT")
    static let IEND = number("IEND")
    static let tRNS = number("tRNS")
    static let iCCP = number("iCCP")
    static let iTXt = number("iTXt")
    static let tEXt = number("tEXt")
    static let cICP = number("cICP")
    static let cLLI = number("cLLI")
    static let mDCV = number("mDCV")
    static let sRGB = number("sRGB")
    static let gAMA = number("gAMA")
    static let cHRM = number("cHRM")
    static let eXIf = number("eXIf")
    static let acTL = number("acTL")
    static let fcTL = number("fcTL")
    static let fdAT = number("fdAT")

    private static func number(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
  }
}

/// The duration of a frame.
package enum FrameDelay {
  /// The longest duration, in seconds: longer than anyone looks, and short enough for any timer.
  package static let longest = 1e6

  /// Browsers show frames of 0.01 s and less for 0.1 s, and animations are made for browsers.
  ///
  /// Text that is not a number counts as 0.
  package static func shown(_ seconds: Double) -> Double { seconds > 0.011 ? min(seconds, longest) : 0.1 }

  /// Returns the duration of each of `count` frames, whatever a decoder said.
  ///
  /// A damaged file may declare frames without a duration, and a decoder that was taken over anything.
  static func shown(_ delays: [Double], count: Int) -> [Double] {
    let known = delays.prefix(count).map { shown($0) }
    return known + [Double](repeating: shown(0), count: count - known.count)
  }
}
