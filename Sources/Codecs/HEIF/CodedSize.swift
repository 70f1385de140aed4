import VitrineImaging
import VitrineRuntime

/// The size of the largest picture that a HEIC file contains, as the codec says it: the container may say anything.
///
/// ISO/IEC 14496-12 and 23008-12 define the boxes, and ITU-T H.265 the parameter sets, sections 7.3.2.2 and
/// 7.3.3.
struct CodedSize {
  /// In pixels; 0 if no parameter set can be read.
  private(set) var (width, height) = (0, 0)
  /// True if a picture has colours, or nothing says that none has.
  var hasColors: Bool { chromaFormats.isEmpty || chromaFormats != [0] }
  private var chromaFormats: Set<UInt8> = []
  /// The number of coded pictures.
  private var count = 0
  /// True if a picture is put together from tiles.
  private var isGrid = false
  /// True if a picture is derived in another way, which may give it any size.
  private var isDerived = false

  /// The maximum number of boxes to look at.
  private static let boxLimit = 10_000

  init(_ file: ByteReader) {
    var boxes = Self.boxLimit
    Self.forEach(in: file, from: 0, &boxes) { name, body, boxes in
      guard name == "meta" else { return }
      // Behind the version and flags.
      Self.forEach(in: body, from: 4, &boxes) { name, body, boxes in
        if name == "iprp" {
          Self.forEach(in: body, from: 0, &boxes) { name, body, boxes in
            guard name == "ipco" else { return }
            Self.forEach(in: body, from: 0, &boxes) { name, body, _ in if name == "hvcC" { add(configuration: body) } }
          }
        } else if name == "iinf" {
          let count = body.byte(at: 0) == 0 ? 2 : 4
          Self.forEach(in: body, from: 4 + count, &boxes) { _, body, _ in
            // The type follows a number of two bytes, or of four, and one of two.
            let type = body.byte(at: 0) == 3 ? 10 : 8
            switch body.ascii(at: type, count: 4) {
            case "hvc1": self.count += 1
            case "grid": isGrid = true
            case "iovl", "iden": isDerived = true
            default: break
            }
          }
        }
      }
    }
  }

  /// Returns true if a picture of this size, upright or not, cannot be in the file.
  func isExceeded(by width: Int, _ height: Int) -> Bool {
    guard self.width > 0, self.height > 0, !isDerived else { return false }
    let pixels = self.width.multipliedSaturating(by: self.height)
    if isGrid { return width.multipliedSaturating(by: height) > pixels.multipliedSaturating(by: count) }
    return max(width, height) > max(self.width, self.height) || min(width, height) > min(self.width, self.height)
  }

  private static func forEach(
    in parent: ByteReader,
    from start: Int,
    _ boxes: inout Int,
    _ body: (String, ByteReader, inout Int) -> Void,
  ) {
    var offset = start
    while boxes > 0, let size = parent.bigEndian32(at: offset).map(Int.init), size >= 8,
      let name = parent.ascii(at: offset + 4, count: 4)
    {
      boxes -= 1
      body(name, parent.slice(offset + 8, size - 8), &boxes)
      offset += size
    }
  }

  /// Reads an `HEVCDecoderConfigurationRecord`.
  private mutating func add(configuration: ByteReader) {
    guard let arrays = configuration.byte(at: 22), let chroma = configuration.byte(at: 16) else { return }
    chromaFormats.insert(chroma & 3)
    var offset = 23
    for _ in 0..<arrays {
      guard let type = configuration.byte(at: offset), let count = configuration.bigEndian16(at: offset + 1) else {
        return
      }
      offset += 3
      for _ in 0..<count {
        guard let length = configuration.bigEndian16(at: offset) else { return }
        // A sequence parameter set.
        if type & 0x3F == 33 { add(set: configuration.slice(offset + 2, Int(length))) }
        offset += 2 + Int(length)
      }
    }
  }

  private mutating func add(set: ByteReader) {
    guard let size = SequenceBits(set).size else { return }
    // A file may have several, in either orientation.
    let (longer, shorter) = (max(size.width, size.height), min(size.width, size.height))
    (width, height) = (max(width, longer), max(height, shorter))
  }
}
