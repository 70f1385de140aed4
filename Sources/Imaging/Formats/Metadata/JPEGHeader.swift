import VitrineRuntime

/// The marker segments of a JPEG file up to its first scan (ITU-T T.81, annex B).
struct JPEGHeader {
  /// Returns `true` if a file begins like a JPEG.
  ///
  /// It may have other bytes between its first two markers, which libjpeg passes over; two segments follow them.
  static func isSignature(_ bytes: ByteReader) -> Bool {
    guard bytes.starts(with: [0xFF, 0xD8]) else { return false }
    guard let byte = bytes.byte(at: 2), byte != 0xFF else { return bytes.count > 2 }
    let head = bytes.slice(0, 4096)
    var next = head.firstOffset(of: UInt8(0xFF), from: 2)
    while let offset = next {
      if let marker = head.byte(at: offset + 1), let length = head.bigEndian16(at: offset + 2) {
        let isSegment = marker == 0xDB || marker == 0xFE || (0xE0...0xEF).contains(marker)
        if isSegment, length > 2, bytes.byte(at: offset + 2 + Int(length)) == 0xFF { return true }
      }
      next = head.firstOffset(of: UInt8(0xFF), from: offset + 1)
    }
    return false
  }

  var width = 0
  var height = 0
  var components = 0
  var precision = 8
  /// The second byte of the frame's marker: 0xC0 baseline, 0xC2 progressive, ….
  var frameMarker: UInt8 = 0
  var orientation = Orientation.up
  var profile: ColorProfile?
  private var componentsInFirstScan = 0
  /// The number of coefficients of all components.
  private(set) var coefficientCount = 0
  /// The size in pixels of the unit that blocks of all components make.
  private(set) var unit = (width: 8, height: 8)

  var isProgressive: Bool { [0xC2, 0xC6, 0xCA, 0xCE].contains(frameMarker) }
  /// True if the first scan is the only one, so that rows can stream; otherwise every coefficient is held in memory.
  var isOneScan: Bool { !isProgressive && componentsInFirstScan >= components }

  init(_ bytes: ByteReader, metadataLimit: Int) throws(ImageError) {
    var profileParts: [(number: UInt8, count: UInt8, bytes: ByteReader)] = []
    var foundEXIF = false
    var orientations: (exif: Orientation?, xmp: Orientation?)
    var offset = 2
    scan: while true {
      // Any number of 0xFF may precede a marker. Bytes between segments are skipped, as in libjpeg.
      while let byte = bytes.byte(at: offset), byte != 0xFF { offset += 1 }
      while bytes.byte(at: offset) == 0xFF { offset += 1 }
      guard let marker = bytes.byte(at: offset) else { throw Self.truncated }
      offset += 1
      switch marker {
      case 0x00, 0x01, 0xD0...0xD7: continue
      case 0xD8: continue
      case 0xD9:
        throw ImageError(.corrupt, format: .jpeg, "corrupt: the file ends before a picture begins")
      default: break
      }
      guard let length = bytes.bigEndian16(at: offset), offset + Int(length) <= bytes.count else {
        throw Self.truncated
      }
      guard length >= 2 else { throw ImageError(.corrupt, format: .jpeg, "corrupt: a segment has \(length) bytes") }
      let segment = bytes.slice(offset + 2, Int(length) - 2)
      offset += Int(length)
      switch marker {
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        guard let precision = segment.byte(at: 0), let height = segment.bigEndian16(at: 1),
          let width = segment.bigEndian16(at: 3), let components = segment.byte(at: 5)
        else { throw Self.truncated }
        (self.precision, self.height, self.width) = (Int(precision), Int(height), Int(width))
        (self.components, frameMarker) = (Int(components), marker)
        unit = Self.unit(segment)
        coefficientCount = Self.coefficients(segment, self.width, self.height)
      case 0xDA:
        componentsInFirstScan = Int(segment.byte(at: 0) ?? 0)
        break scan
      case 0xE1 where !foundEXIF && EXIF.isMarked(segment):
        orientations.exif = EXIF.orientation(block: segment)
        foundEXIF = true
      case 0xE1 where orientations.xmp == nil && segment.starts(with: JPEGMetadata.xmpName):
        orientations.xmp = XMP.orientation(segment)
      case 0xE2 where segment.matches("ICC_PROFILE", at: 0):
        if let number = segment.byte(at: 12), let count = segment.byte(at: 13) {
          profileParts.append((number, count, segment.slice(14, segment.count)))
        }
      default: break
      }
    }
    orientation = orientations.exif ?? orientations.xmp ?? .up
    guard frameMarker != 0 else {
      throw ImageError(.corrupt, format: .jpeg, "corrupt: a scan begins before the frame's header")
    }
    profile = Self.profile(profileParts.sorted { $0.number < $1.number }, limit: metadataLimit)
  }

  /// Returns the size of the unit of a frame's blocks.
  private static func unit(_ frame: ByteReader) -> (width: Int, height: Int) {
    var (x, y) = (1, 1)
    for offset in stride(from: 7, to: frame.count, by: 3) {
      guard let factors = frame.byte(at: offset) else { break }
      (x, y) = (max(x, Int(factors >> 4)), max(y, Int(factors & 15)))
    }
    return (8 * x, 8 * y)
  }

  /// Returns the profile of the parts in order; `nil` if one is missing, or they disagree (ICC.1:2022, B.4).
  private static func profile(
    _ parts: [(number: UInt8, count: UInt8, bytes: ByteReader)],
    limit: Int,
  ) -> ColorProfile? {
    guard parts.reduce(0, { $0 + $1.bytes.count }) <= limit else { return nil }
    for (index, part) in parts.enumerated() where Int(part.number) != index + 1 || Int(part.count) != parts.count {
      return nil
    }
    let profile = parts.reduce(into: [UInt8]()) { $0 += $1.bytes.copy() }
    return profile.isEmpty ? nil : ColorProfile(data: Data(profile))
  }

  /// Returns the number of coefficients of a frame, whose blocks fill whole units.
  private static func coefficients(_ frame: ByteReader, _ width: Int, _ height: Int) -> Int {
    var (x, y, blocksPerUnit) = (0, 0, 0)
    for offset in stride(from: 7, to: frame.count, by: 3) {
      guard let factors = frame.byte(at: offset) else { break }
      let (horizontal, vertical) = (Int(factors >> 4), Int(factors & 15))
      (x, y, blocksPerUnit) = (max(x, horizontal), max(y, vertical), blocksPerUnit + horizontal * vertical)
    }
    guard x > 0, y > 0 else { return 0 }
    let units = ((width + 8 * x - 1) / (8 * x)) * ((height + 8 * y - 1) / (8 * y))
    return blocksPerUnit * units * 64
  }

  private static var truncated: ImageError {
    ImageError(.truncated, format: .jpeg, "truncated: the file ends inside its header")
  }
}
