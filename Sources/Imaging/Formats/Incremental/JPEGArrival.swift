import VitrineRuntime

/// JPEG: segments, and the ends of a progressive file's scans.
///
/// Only some scans are worth a preview. The first scans of all components' means show the picture at an eighth of its
/// size. At that size, chroma at half resolution gets sharper with its first AC scan. At larger sizes the picture
/// improves when each component has its first AC scan, and when each has all coefficients, even if not all their
/// bits.
struct JPEGArrival: FileArrival {
  private(set) var hasHeader = false
  private var offset = 2
  private var isInScan = false
  private var isProgressive = false
  private var isSubsampled = false
  private var identifiers: [UInt8] = []
  /// The coefficients of each component that whole scans have delivered, one bit each.
  private var known: [UInt64] = []
  private var current: (components: [Int], coefficients: UInt64) = ([], 0)
  private var endOfScans = 0
  private var componentsInFirstScan = 0

  mutating func advance(_ bytes: ByteReader) {
    // In a file of one scan there is nothing to learn after the header.
    while !hasHeader || isProgressive {
      if isInScan {
        guard passScan(bytes) else { return }
        continue
      }
      guard let byte = bytes.byte(at: offset) else { return }
      guard byte == 0xFF else {
        offset += 1
        continue
      }
      guard let marker = bytes.byte(at: offset + 1) else { return }
      switch marker {
      case 0xFF: offset += 1
      case 0x00, 0x01, 0xD0...0xD9: offset += 2
      default:
        guard let length = bytes.bigEndian16(at: offset + 2), bytes.count >= offset + 2 + Int(length) else { return }
        read(marker, bytes.slice(offset + 4, Int(length) - 2))
        offset += 2 + max(2, Int(length))
      }
    }
  }

  func visible(of info: ImageInfo, isAtEighth: Bool) -> VisiblePart {
    guard isProgressive else {
      let isOneScan = componentsInFirstScan >= identifiers.count
      return isOneScan ? .rows(isInterlaced: false, estimate: info.storedWidth * info.storedHeight / 6) : .nothing
    }
    guard !known.isEmpty, known.allSatisfy({ $0 & 1 != 0 }) else { return .nothing }
    var stage = 1
    if isAtEighth {
      if isSubsampled, known.dropFirst().allSatisfy({ $0 > 1 }) { stage = 2 }
    } else if known.allSatisfy({ $0 > 1 }) {
      stage = known.allSatisfy { $0 == .max } ? 3 : 2
    }
    // The marker after a scan shows that the scan is whole.
    return .stage(stage, byteCount: endOfScans + 2)
  }

  func sufficientByteCount(at scale: Double) -> Int? {
    guard isProgressive, scale <= 1 / 8, !known.isEmpty, known.allSatisfy({ $0 & 1 != 0 }) else { return nil }
    // The means of chroma stored at half resolution are enough for half the size.
    guard scale <= 1 / 16 || !isSubsampled || known.dropFirst().allSatisfy({ $0 > 1 }) else { return nil }
    return endOfScans + 2
  }

  private mutating func read(_ marker: UInt8, _ segment: ByteReader) {
    switch marker {
    case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker) && !hasHeader:
      isProgressive = marker == 0xC2 || marker == 0xCA
      let count = Int(segment.byte(at: 5) ?? 0)
      identifiers = (0..<count).compactMap { segment.byte(at: 6 + 3 * $0) }
      known = identifiers.map { _ in 0 }
      isSubsampled = Set((0..<count).map { segment.byte(at: 7 + 3 * $0) }).count > 1
    case 0xDA:
      let count = Int(segment.byte(at: 0) ?? 0)
      if !hasHeader { componentsInFirstScan = count }
      let components = (0..<count).compactMap { index in
        segment.byte(at: 1 + 2 * index).flatMap { identifiers.firstIndex(of: $0) }
      }
      let first = Int(segment.byte(at: 1 + 2 * count) ?? 0) & 63
      let last = max(first, Int(segment.byte(at: 2 + 2 * count) ?? 0) & 63)
      current = (components, (UInt64.max >> UInt64(63 - last)) & (UInt64.max << UInt64(first)))
      hasHeader = true
      isInScan = true
    default: break
    }
  }

  /// Searches for the marker after entropy-coded data.
  ///
  /// Returns `false` if it has not arrived yet.
  private mutating func passScan(_ bytes: ByteReader) -> Bool {
    while offset < bytes.count {
      guard let found = bytes.firstOffset(of: 0xFF, from: offset) else {
        offset = bytes.count
        return false
      }
      offset = found
      guard let marker = bytes.byte(at: offset + 1) else { return false }
      if marker != 0, marker != 0xFF, !(0xD0...0xD7).contains(marker) {
        for component in current.components { known[component] |= current.coefficients }
        endOfScans = offset
        isInScan = false
        return true
      }
      offset += marker == 0xFF ? 1 : 2
    }
    return false
  }
}
