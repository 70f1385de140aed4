import CVitrineCodecs
import VitrineRuntime

/// A compressor for photographs: blocks of codes of their own, of bytes and of short matches where these pay (zlib,
/// RFC 1950, and DEFLATE, RFC 1951).
///
/// The filtered bytes of a photograph hardly repeat, so that zlib takes most of its time to find little. In most of
/// them codes alone, at a tenth of the time, give smaller files than zlib's faster levels. Matches pay where red,
/// green and blue leave the same, as in grey rocks.
@safe
final class DeflateWriter: PNGCompressor {
  private static let history = 32_768
  private static let block = 32_768
  /// Codes of up to 14 bits, so that four fit into the accumulator behind the 7 bits that may be left in it.
  private static let longestCode = 14

  private let file: PNGOutput
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  /// The bytes before the block, the block, and as many more as may be overwritten.
  private let window: UnsafeMutablePointer<UInt8>
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
    unsafe window = .allocate(capacity: Self.history + Self.block + 64)
    unsafe window.initialize(repeating: 0, count: Self.history + Self.block + 64)
    // The largest window, and compressed fast (RFC 1950, 2.2).
    let output = try unsafe file.reserveData(16)
    unsafe (output[0], output[1]) = (0x78, 0x01)
    file.advance(2)
  }

  deinit { unsafe window.deallocate() }

  func room(_ least: Int) throws(ImageError) -> UnsafeMutableBufferPointer<UInt8> {
    if end + least > start + Self.block { try writeBlock(isLast: false) }
    return unsafe UnsafeMutableBufferPointer(start: window + end, count: start + Self.block - end)
  }

  func advance(_ count: Int) { end += count }

  func finish() throws(ImageError) {
    try writeBlock(isLast: true)
    let output = try unsafe file.reserveData(16)
    var writer = unsafe BitWriter(output, bits)
    writer.pad()
    for shift in [24, 16, 8, 0] {
      writer.put((checksum >> shift) & 0xFF, 8)
      writer.flush()
    }
    file.advance(unsafe writer.next - output)
  }

  private func writeBlock(isLast: Bool) throws(ImageError) {
    let count = end - start
    let bytes = unsafe UnsafePointer(window + start)
    checksum = unsafe vitrine_adler32(checksum, bytes, count)
    // More than all of a block's symbols can take: 14 bits for a byte, or 46 for three and more.
    let output = try unsafe file.reserveData(2 * count + 1024)
    var writer = unsafe BitWriter(output, bits)
    let frequencies = unsafe Self.frequencies(bytes, count)
    let literals = PrefixCode(frequencies, limit: Self.longestCode)
    let cost = literals.cost(of: frequencies)
    if let depth = plan.depth(zeros: Int(frequencies[0]), of: count),
      let matched = matched(frequencies, count, cost, depth)
    {
      writer.put(BlockHeader(matched.literals, matched.distances, isLast: isLast))
      unsafe writer.put(search.tokens, search.tokenCount, matched.literals, matched.distances)
      before = matched.literals
    } else if cost > 8 * count {
      // Noise; at most 32,768 bytes, which a stored block may have (RFC 1951, 3.2.4).
      writer.put(isLast ? 1 : 0, 3)
      writer.pad()
      unsafe writer.store(bytes, count)
    } else {
      writer.put(BlockHeader(literals, PrefixCode([0], limit: 1), isLast: isLast))
      unsafe writer.put(bytes, count, literals)
    }
    bits = writer.rest
    file.advance(unsafe writer.next - output)
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
    // The block, with the history in front of it, and room behind it.
    unsafe search.search(
      window + start,
      count: count,
      before: start,
      position: origin + start,
      costs: costs,
      depth: depth,
    )
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

  private static func frequencies(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> [UInt32] {
    // Four tables, so that equal neighbours do not wait for each other.
    var counts = [UInt32](repeating: 0, count: 1024)
    unsafe counts.withUnsafeMutableBufferPointer { counts in
      var index = 0
      // Within `count` bytes, and within a table of 256.
      while index &+ 4 <= count {
        unsafe counts[Int(bytes[index])] &+= 1
        unsafe counts[256 &+ Int(bytes[index &+ 1])] &+= 1
        unsafe counts[512 &+ Int(bytes[index &+ 2])] &+= 1
        unsafe counts[768 &+ Int(bytes[index &+ 3])] &+= 1
        index &+= 4
      }
      while index < count {
        unsafe counts[Int(bytes[index])] &+= 1
        index &+= 1
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
    // Both within the window; they may overlap.
    unsafe memmove(window, window + shift, Self.history)
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
