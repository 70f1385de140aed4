/// The colours of a picture, and how often each one occurs.
///
/// A table of fixed size. It counts each colour by itself as long as it has room for all. Then it drops the lowest bit of
/// each component, as often as need be, and keeps the mean of the colours that it no longer tells apart.
struct ColorCounts: ~Copyable {
  /// The number of colours that occur; of groups of colours, if ``isExact`` is false.
  private(set) var count = 0
  /// The number of bits of each component that are not told apart.
  private var dropped: UInt32 = 0

  /// A Boolean value that indicates whether each colour is counted by itself.
  var isExact: Bool { dropped == 0 }

  private static let mostSlots = 1 << 16
  /// The number of pixels that are counted of a huge picture; no sum of theirs overflows.
  private static let mostPixels = 1 << 26

  /// The size of the table, a power of two.
  private let slotCount: Int
  /// The bits of a hash that are not a slot's number.
  private let unused: UInt32
  /// The colours, without the dropped bits; 0 is a free slot.
  private let keys: OwnedElements<UInt32>
  /// The number of pixels, and the sums of the dropped bits of their colours.
  private let sums: OwnedElements<SIMD4<UInt32>>

  /// Makes a table for some pixels, of fewer slots if they are few.
  init(pixelCount: Int) {
    let bits = Int.bitWidth - min(Self.mostSlots, 2 * max(1, pixelCount) + 1).leadingZeroBitCount
    slotCount = min(Self.mostSlots, 1 << bits)
    unused = UInt32(32 - slotCount.trailingZeroBitCount)
    keys = OwnedElements(repeating: 0, count: slotCount)
    sums = OwnedElements(repeating: SIMD4(), count: slotCount)
  }

  /// Counts the colours of pixels, until `check`, which is called now and then, throws an error.
  mutating func add(_ pixels: DrawnPixels, _ check: () throws(ImageError) -> Void) throws(ImageError) {
    let area = pixels.area
    // Of a huge picture some rows are enough.
    let step = max(1, area.width * area.height / Self.mostPixels)
    let memory = OwnedElements<UInt32>(repeating: 0, count: area.width)
    let line = memory.elements
    let rows = RowBatch(width: area.width)
    for row in stride(from: 0, to: area.height, by: step) {
      if rows.begins(row) { try check() }
      pixels.read(row, into: line)
      add(line.elements)
    }
  }

  private mutating func add(_ line: Elements<UInt32>) {
    let (keys, sums) = (keys.elements, sums.elements)
    var x = 0
    while x < line.count {
      let color = line[x]
      var end = x &+ 1
      while end < line.count, line[end] == color { end &+= 1 }
      if color != 0 { add(color, UInt32(truncatingIfNeeded: end &- x), keys, sums) }
      x = end
    }
  }

  @inline(__always)
  private mutating func add(
    _ color: UInt32,
    _ number: UInt32,
    _ keys: MutableElements<UInt32>,
    _ sums: MutableElements<SIMD4<UInt32>>,
  ) {
    var low = SIMD4<UInt32>(1, 0, 0, 0)
    if dropped > 0 { low = Self.low(color, dropped) }
    let slot = slot(of: color & ~Self.lowBits(dropped), in: keys)
    // With `&+=` on vectors the compiler (6.3.1) fails under the thread sanitizer.
    sums[slot] = sums[slot] &+ low &* number
    // In a fuller table searches would become long.
    if count > slotCount / 2 { shrink() }
  }

  /// Returns the slot of a key, taken if need be.
  @inline(__always)
  private mutating func slot(of key: UInt32, in keys: MutableElements<UInt32>) -> Int {
    // Fibonacci hashing (Knuth, volume 3, section 6.4): the product's highest bits depend on all bits of the key.
    var slot = Int((key &* 0x9E37_79B1) >> unused)
    while true {
      // Half of the table is free.
      let found = keys[slot]
      if found == key { return slot }
      if found == 0 {
        keys[slot] = key
        count += 1
        return slot
      }
      slot = (slot &+ 1) & (slotCount &- 1)
    }
  }

  @inline(__always)
  private static func lowBits(_ dropped: UInt32) -> UInt32 { ((1 << dropped) &- 1) &* 0x01_01_01 }

  @inline(__always)
  private static func low(_ color: UInt32, _ dropped: UInt32) -> SIMD4<UInt32> {
    let mask: UInt32 = (1 << dropped) &- 1
    return SIMD4(1, color & mask, color >> 8 & mask, color >> 16 & mask)
  }

  /// Tells one bit less apart.
  private mutating func shrink() {
    var old: [(key: UInt32, sum: SIMD4<UInt32>)] = []
    old.reserveCapacity(count)
    let (keys, sums) = (keys.elements, sums.elements)
    for slot in 0..<slotCount where keys[slot] != 0 { old.append((keys[slot], sums[slot])) }
    keys.update(repeating: 0)
    sums.update(repeating: SIMD4())
    count = 0
    dropped += 1
    for (key, sum) in old {
      // Of the dropped bits the key has only the new one.
      var low = Self.low(key, dropped) &* sum.x
      low.x = 0
      let slot = slot(of: key & ~Self.lowBits(dropped), in: keys)
      sums[slot] = sums[slot] &+ sum &+ low
    }
  }

  /// The colours that occur, the darkest first; meaningful only if ``isExact``.
  var colors: [UInt32] {
    let keys = keys.elements
    return keys.indices.compactMap { slot in keys[slot] == 0 ? nil : keys[slot] }.sorted()
  }

  /// The colours that occur, or the means of their groups, each with the number of its pixels as the fourth component.
  ///
  /// Their order depends on nothing but the colours.
  var points: [SIMD4<Float>] {
    var points: [SIMD4<Float>] = []
    points.reserveCapacity(count)
    for slot in 0..<slotCount {
      let (key, sum) = (keys.elements[slot], SIMD4<Float>(sums.elements[slot]))
      guard key != 0 else { continue }
      let base = SIMD4<Float>(Float(key & 255), Float(key >> 8 & 255), Float(key >> 16 & 255), 0)
      var point = base + SIMD4(sum.y, sum.z, sum.w, 0) / sum.x
      point.w = sum.x
      points.append(point)
    }
    return points
  }
}

/// The rows between two checks for cancellation: well under 10 ms of work.
struct RowBatch {
  private let rowsPerCheck: Int

  init(width: Int) { rowsPerCheck = max(1, 1 << 15 / width) }

  func begins(_ row: Int) -> Bool { row % rowsPerCheck == 0 }
}
