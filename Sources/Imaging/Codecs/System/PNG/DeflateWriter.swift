import CVitrineCodecs
import VitrineRuntime

/// A compressor for photographs: blocks of codes of their own, of bytes and of short matches where these pay (zlib,
/// RFC 1950, and DEFLATE, RFC 1951).
///
/// The filtered bytes of a photograph hardly repeat, so that zlib takes most of its time to find little. In most of
/// them codes alone, at a tenth of the time, give smaller files than zlib's faster levels. Matches pay where red,
/// green and blue leave the same, as in grey rocks.
final class DeflateWriter: PNGCompressor {
  private static let history = 32_768
  private static let block = 32_768
  /// Codes of up to 14 bits, so that four fit into the accumulator behind the 7 bits that may be left in it.
  private static let longestCode = 14

  private let file: PNGOutput
  /// The bytes before the block, the block, and as many more as may be overwritten.
  private let window = OwnedElements<UInt8>(repeating: 0, count: history + block + PNGScanlines.spare)
  private var start = 0
  private var end = 0
  /// The position of the window's first byte in the stream.
  private var origin = 0
  private var checksum: UInt32 = 1
  private var bits = BitAccumulator()

  private lazy var search = MatchSearch(block: Self.block)
  private var costs = DeflateCosts()
  private var plan: SearchPlan
  private var before: PrefixCode?
  private var lastDepth = MatchSearch.Depth.shallow

  /// Makes a compressor that searches all blocks for matches, or only those where these seem to pay.
  init(_ file: PNGOutput, isThorough: Bool) throws(ImageError) {
    self.file = file
    plan = SearchPlan(isThorough: isThorough)
    // The largest window, and compressed fast (RFC 1950, 2.2).
    let output = try file.reserveData(16)
    (output[0], output[1]) = (0x78, 0x01)
    file.advance(2)
  }

  func room(_ least: Int) throws(ImageError) -> MutableElements<UInt8> {
    if end + least > start + Self.block { try writeBlock(isLast: false) }
    return window.elements.extracting(end..<start + Self.block + PNGScanlines.spare)
  }

  func advance(_ count: Int) { end += count }

  func finish() throws(ImageError) {
    try writeBlock(isLast: true)
    var writer = try BitWriter(file.reserveData(16), bits)
    writer.pad()
    for shift in [24, 16, 8, 0] {
      writer.put((checksum >> shift) & 0xFF, 8)
      writer.flush()
    }
    file.advance(writer.byteCount)
  }

  private func writeBlock(isLast: Bool) throws(ImageError) {
    let bytes = window.elements.elements.extracting(start..<end)
    let count = bytes.count
    checksum = unsafe bytes.withUnsafeBufferPointer { unsafe vitrine_adler32(checksum, $0.baseAddress, $0.count) }
    // More than all of a block's symbols can take, and the room that is checked before 64 of them: 14 bits for a byte, or
    // 46 for three and more.
    var writer = try BitWriter(file.reserveData(2 * count + 1024), bits)
    let frequencies = Self.frequencies(bytes)
    let literals = PrefixCode(frequencies, limit: Self.longestCode)
    let cost = literals.cost(of: frequencies)
    if let depth = plan.depth(zeros: Int(frequencies[0]), of: count),
      let matched = matched(frequencies, count, cost, depth)
    {
      writer.put(BlockHeader(matched.literals, matched.distances, isLast: isLast))
      writer.put(search.tokens, matched.literals, matched.distances)
      before = matched.literals
    } else if cost > 8 * count {
      // Noise; at most 32,768 bytes, which a stored block may have (RFC 1951, 3.2.4).
      writer.put(isLast ? 1 : 0, 3)
      writer.pad()
      writer.store(bytes)
    } else {
      writer.put(BlockHeader(literals, PrefixCode([0], limit: 1), isLast: isLast))
      writer.put(bytes, literals)
    }
    bits = writer.rest
    file.advance(writer.byteCount)
    keepHistory()
  }

  /// Searches for matches and returns the codes; `nil` if the literals' code alone takes fewer bits.
  private func matched(
    _ frequencies: [UInt32],
    _ count: Int,
    _ cost: Int,
    _ depth: MatchSearch.Depth,
  ) -> (literals: PrefixCode, distances: PrefixCode)? {
    // Where more is looked for, other matches are found, at other costs.
    if depth != lastDepth { costs = DeflateCosts() }
    lastDepth = depth
    costs.setLiterals(frequencies, count: count, before: before)
    // With the history in front of the block, and room behind it.
    search.search(window.elements.elements, start..<end, position: origin + start, costs: costs, depth: depth)
    var frequencies = search.literalFrequencies
    frequencies[256] = 1
    let literals = PrefixCode(frequencies, limit: Self.longestCode)
    let distances = PrefixCode(search.distanceFrequencies, limit: Self.longestCode)
    var matchedCost = literals.cost(of: frequencies) + distances.cost(of: search.distanceFrequencies)
    for length in 0..<29 {
      matchedCost += Int(frequencies[257 + length]) * (length < 8 || length == 28 ? 0 : length / 4 - 1)
    }
    for (distance, number) in search.distanceFrequencies.enumerated() {
      matchedCost += Int(number) * DeflateTables.distanceExtra[distance]
    }
    costs.learn(literals, distances)
    plan.note(literals: cost, matched: matchedCost)
    return matchedCost < cost ? (literals, distances) : nil
  }

  private static func frequencies(_ bytes: Elements<UInt8>) -> [UInt32] {
    // Four tables, so that equal neighbours do not wait for each other.
    var counts = [UInt32](repeating: 0, count: 1024)
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe counts.withUnsafeMutableBufferPointer { places in
        guard let first = unsafe UnsafeRawPointer(bytes.baseAddress) else { return }
        var index = 0
        // In bounds: four bytes are left, and each table has a place for each byte.
        while index &+ 4 <= bytes.count {
          let four = unsafe UInt32(littleEndian: first.loadUnaligned(fromByteOffset: index, as: UInt32.self))
          unsafe places[Int(four & 255)] &+= 1
          unsafe places[256 | Int(four &>> 8 & 255)] &+= 1
          unsafe places[512 | Int(four &>> 16 & 255)] &+= 1
          unsafe places[768 | Int(four &>> 24)] &+= 1
          index &+= 4
        }
        while index < bytes.count {
          unsafe places[Int(bytes[index])] &+= 1
          index &+= 1
        }
      }
    }
    var frequencies = [UInt32](repeating: 0, count: 286)
    for byte in 0..<256 {
      frequencies[byte] = counts[byte] + counts[256 + byte] + counts[512 + byte] + counts[768 + byte]
    }
    frequencies[256] = 1
    return frequencies
  }

  /// Moves what later matches may refer to to the start of the window.
  private func keepHistory() {
    start = end
    guard start > Self.history else { return }
    let shift = start - Self.history
    window.elements.update(from: window.elements.elements.extracting(shift..<shift + Self.history))
    origin += shift
    (start, end) = (Self.history, Self.history)
  }
}

/// The choice of blocks to be searched for matches.
struct SearchPlan {
  let isThorough: Bool
  /// What matches save in the last blocks, in thousandths; a block counts as much as all before it.
  private var gain = 0
  private var searched = 0
  private var skipped = 0
  private var isDeep = false

  init(isThorough: Bool) { self.isThorough = isThorough }

  /// Returns how deep to search a block of `count` bytes; `nil` for not at all.
  mutating func depth(zeros: Int, of count: Int) -> MatchSearch.Depth? {
    if isThorough { return .deep }
    // Half of a block is alike: something drawn, or the sky.
    if zeros * 2 >= count { return isDeep ? .deep : .shallow }
    // The first block has little before it to repeat. So two are searched, and the next six not if that saved less
    // than 0.3 %, nor the second if the first would have grown by 1 %: in most photographs from cameras neither pays.
    if searched >= 2 ? gain < 3 : searched == 1 && gain < -10 {
      skipped += 1
      guard skipped > 6 else { return nil }
      self = SearchPlan(isThorough: false)
    }
    // Where matches save much, more of them pay.
    isDeep = gain >= (isDeep ? 10 : 18)
    return isDeep ? .deep : .shallow
  }

  /// Notes the bits that a block took.
  mutating func note(literals: Int, matched: Int) {
    let saved = (literals - matched) * 1000 / max(literals, 1)
    gain = searched == 0 ? saved : (gain + saved) / 2
    searched += 1
  }
}
