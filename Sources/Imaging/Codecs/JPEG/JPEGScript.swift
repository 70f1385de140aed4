/// The frame and the scans of a JPEG file, found without decoding.
///
/// It accepts only files that ``ReducedRows`` can decode: no damage, no oddity, nothing that libjpeg would warn about.
/// All diagnostics are left to libjpeg.
struct JPEGScript {
  enum Color { case grey, ycc, rgb }

  /// The maximum number of scans.
  ///
  /// A progressive file with more is not worth its cost; libjpeg has a limit of its own.
  static let scanLimit = 100

  private(set) var frame: JPEGFrame
  private(set) var color: Color
  /// The scans: one for a baseline file, whose data reach to the end of the bytes; for a progressive file, those that
  /// are complete.
  private(set) var scans: [JPEGScan] = []
  /// True if the end of the image was found, and all bits of all coefficients before it.
  ///
  /// For a baseline file the data decide.
  private(set) var isComplete = false

  private var tables: JPEGTables
  /// The bit position reached by scans, for each component and coefficient.
  private var reached: [[Int]]

  /// The position of a coefficient before its first scan, above any that a scan can name.
  private static let unseen = 16

  /// Returns `nil` for a file that is left to libjpeg.
  init?(_ bytes: ByteReader) {
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var found: JPEGFrame?
    var tables = JPEGTables()
    var offset = 2
    var hasJFIF = false
    var adobeTransform: UInt8?
    while let (marker, segment) = Self.segment(bytes, &offset) {
      switch marker {
      case 0xC0...0xC2:
        guard found == nil, let frame = JPEGFrame(segment, isProgressive: marker == 0xC2) else { return nil }
        found = frame
      case 0xE0: hasJFIF = hasJFIF || (segment.starts(with: "JFIF\0") && segment.count >= 12)
      case 0xEE: if segment.starts(with: "Adobe") { adobeTransform = segment.byte(at: 11) }
      case 0xDA:
        guard let frame = found, let color = Self.color(frame, hasJFIF, adobeTransform) else { return nil }
        (self.frame, self.color, self.tables) = (frame, color, tables)
        reached = frame.components.map { _ in [Int](repeating: Self.unseen, count: 64) }
        guard readScans(bytes, segment, &offset) else { return nil }
        return
      default: guard tables.read(marker, segment) else { return nil }
      }
    }
    return nil
  }

  /// Reads the next marker and its segment; returns `nil` if they are incomplete or something else follows.
  private static func segment(_ bytes: ByteReader, _ offset: inout Int) -> (marker: UInt8, segment: ByteReader)? {
    guard bytes.byte(at: offset) == 0xFF else { return nil }
    while bytes.byte(at: offset + 1) == 0xFF { offset += 1 }
    guard let marker = bytes.byte(at: offset + 1), marker >= 0xC0, !(0xD0...0xD9).contains(marker),
      let length = bytes.bigEndian16(at: offset + 2), length >= 2, offset + 2 + Int(length) <= bytes.count
    else { return nil }
    let segment = bytes.slice(offset + 4, Int(length) - 2)
    offset += 2 + Int(length)
    return (marker, segment)
  }

  /// Makes the cells of a progressive file half as wide and high; returns `nil` if that is left to libjpeg.
  func atQuarter() -> JPEGScript? {
    guard frame.isProgressive, isComplete, let frame = frame.atQuarter() else { return nil }
    var script = self
    script.frame = frame
    return script
  }

  /// Returns the colour model by libjpeg's rules; `nil` if libjpeg would have to guess.
  private static func color(_ frame: JPEGFrame, _ hasJFIF: Bool, _ adobeTransform: UInt8?) -> Color? {
    guard frame.components.count == 3 else { return .grey }
    if hasJFIF { return .ycc }
    if let adobeTransform { return adobeTransform == 0 ? .rgb : adobeTransform == 1 ? .ycc : nil }
    return frame.components.map(\.identifier) == [82, 71, 66] ? .rgb : .ycc
  }

  /// Reads all scans, starting after the header of the first.
  private mutating func readScans(_ bytes: ByteReader, _ header: ByteReader, _ offset: inout Int) -> Bool {
    guard frame.isProgressive else {
      guard var scan = scan(header), scan.parts.count == frame.components.count else { return false }
      scan.data = offset..<bytes.count
      return add(scan)
    }
    var header = header
    while true {
      guard var scan = scan(header) else { return false }
      let end = Self.endOfData(bytes, from: offset)
      // A scan that the prefix cuts off is ignored.
      guard let end else { return true }
      scan.data = offset..<end
      guard scans.count < Self.scanLimit, add(scan) else { return false }
      offset = end
      while true {
        if bytes.byte(at: offset) == 0xFF, bytes.byte(at: offset + 1) == 0xD9 {
          isComplete = reached.allSatisfy { $0.allSatisfy { $0 == 0 } }
          return true
        }
        guard let (marker, segment) = Self.segment(bytes, &offset) else { return true }
        if marker == 0xDA {
          header = segment
          break
        }
        guard tables.read(marker, segment) else { return false }
      }
    }
  }

  private func scan(_ header: ByteReader) -> JPEGScan? {
    guard let count = header.byte(at: 0).map({ Int($0) }), 1...frame.components.count ~= count,
      header.count == 4 + 2 * count, let first = header.byte(at: 1 + 2 * count),
      let last = header.byte(at: 2 + 2 * count), let positions = header.byte(at: 3 + 2 * count)
    else { return nil }
    var scan = JPEGScan()
    scan.restartInterval = tables.restartInterval
    (scan.first, scan.last) = (Int(first), Int(last))
    (scan.high, scan.low) = (Int(positions >> 4), Int(positions & 15))
    for index in 0..<count {
      guard let identifier = header.byte(at: 1 + 2 * index), let choice = header.byte(at: 2 + 2 * index),
        let component = frame.components.firstIndex(where: { $0.identifier == identifier }),
        !scan.parts.contains(where: { $0.component == component }), choice >> 4 < 4, choice & 15 < 4
      else { return nil }
      scan.parts.append(
        JPEGScan.Part(
          component: component,
          differences: tables.differences[Int(choice >> 4)],
          coefficients: tables.coefficients[Int(choice & 15)],
        )
      )
    }
    return scan
  }

  /// Appends a scan if it is allowed at this point and its tables are defined.
  private mutating func add(_ scan: JPEGScan) -> Bool {
    if frame.isProgressive {
      guard scan.first <= scan.last, scan.last <= 63, scan.isOfDC == (scan.last == 0), scan.low <= 13,
        scan.isOfDC || scan.parts.count == 1, !scan.isRefinement || scan.high == scan.low + 1
      else { return false }
      for part in scan.parts {
        for index in scan.first...scan.last {
          // Each bit is sent once, from the highest down.
          guard reached[part.component][index] == (scan.isRefinement ? scan.high : Self.unseen) else { return false }
          reached[part.component][index] = scan.low
        }
        if scan.isOfDC ? !scan.isRefinement && part.differences == nil : part.coefficients == nil { return false }
      }
    } else {
      guard scan.first == 0, scan.last == 63, scan.high == 0, scan.low == 0,
        scan.parts.allSatisfy({ $0.differences != nil && $0.coefficients != nil })
      else { return false }
    }
    for part in scan.parts where frame.components[part.component].quantization.isEmpty {
      let steps = tables.quantization[frame.components[part.component].quantizationTable]
      guard !steps.isEmpty else { return false }
      frame.components[part.component].quantization = steps
    }
    scans.append(scan)
    return true
  }

  /// True if the first approximation of every component has been read.
  var showsPicture: Bool { reached.allSatisfy { $0[0] < Self.unseen } || !frame.isProgressive }

  /// Returns the offset of the next marker other than a restart marker; `nil` if the bytes end before it.
  private static func endOfData(_ bytes: ByteReader, from start: Int) -> Int? {
    var offset = start
    while let found = bytes.firstOffset(of: 0xFF, from: offset), let marker = bytes.byte(at: found + 1) {
      if marker != 0, marker != 0xFF, !(0xD0...0xD7).contains(marker) { return found }
      offset = found + (marker == 0xFF ? 1 : 2)
    }
    return nil
  }
}
