/// Finds the nearest colour of a palette, exactly.
///
/// The space of colours is divided into cells. The first search in a cell lists the colours that may be the nearest to a
/// point in it (Heckbert, "Color image quantization for frame buffer display", 1982, calls it a locally sorted search).
/// Later searches compare these only, four at a time.
struct NearestColors: ~Copyable {
  /// The colours of the palette; their fourth components are 0.
  let colors: [SIMD4<Float>]

  /// The number of bits of a component that name a cell.
  private let bits: UInt32
  private let cellsPerLevel: Float
  /// The bits of a step in each component.
  private let mask: UInt32
  /// The lists of cells: groups of four colours, as red, green, blue and index.
  private var lists: [SIMD4<Float>] = []
  /// The lists of the 64 cells of 64 levels, from which the others' lists are made; and one of all colours.
  private var coarse: [[SIMD4<Float>]]
  /// The place of each cell's list in `lists`, and in the lowest 7 bits the number of its groups; 0 for a list not made
  /// yet.
  private let cells: OwnedElements<UInt32>

  /// Makes a search in a palette of 1 to 256 colours from 0 to 255, in cells of 2^`bits` steps a component.
  ///
  /// More bits pay for more searches.
  init(_ colors: [SIMD4<Float>], bits: Int) {
    precondition((1...256).contains(colors.count) && (2...5).contains(bits))
    (self.colors, self.bits) = (colors, UInt32(bits))
    cellsPerLevel = 1 / Float(256 >> bits)
    mask = 1 << UInt32(bits) - 1
    cells = OwnedElements(repeating: 0, count: 1 << (3 * bits))
    coarse = Array(repeating: [], count: 64) + [Self.groups(colors)]
  }

  /// Returns the index of the colour that is nearest to another; of several, the first.
  ///
  /// Components are from 0 to 255, the fourth is 0.
  @inline(__always)
  mutating func index(of color: SIMD4<Float>) -> Int {
    // 1.5 * 2^23 leaves the rounded number in a float's last bits. A point between two cells may be taken for one of
    // either.
    let steps = ((color * cellsPerLevel - 0.5) + 12_582_912).bits & mask
    let cell = Int(steps.x &<< (2 &* bits) | steps.y &<< bits | steps.z)
    var list = cells.elements[cell]
    if list == 0 { list = makeList(cell, steps) }
    let (start, count) = (Int(list >> 7), Int(list & 127))
    let red = SIMD4<Float>(repeating: color.x)
    let green = SIMD4<Float>(repeating: color.y)
    let blue = SIMD4<Float>(repeating: color.z)
    precondition(count > 0 && start &+ count &* 4 <= lists.count)
    // A list has `count` groups of four vectors from `start` on, within `lists` by the line above.
    return unsafe lists.withUnsafeBufferPointer { lists in
      var (least, best) = unsafe (Self.distance(lists, start, red, green, blue), lists[start &+ 3])
      for group in 1..<count {
        let place = start &+ group &* 4
        let distance = unsafe Self.distance(lists, place, red, green, blue)
        let isNearer = distance .< least
        least.replace(with: distance, where: isNearer)
        unsafe best.replace(with: lists[place &+ 3], where: isNearer)
      }
      // Indices are whole numbers below 256, and so are exact.
      return Int(best.replacing(with: 256, where: least .> least.least).least)
    }
  }

  /// The squared distances of four colours from another.
  @inline(__always)
  private static func distance(
    _ lists: UnsafeBufferPointer<SIMD4<Float>>,
    _ place: Int,
    _ red: SIMD4<Float>,
    _ green: SIMD4<Float>,
    _ blue: SIMD4<Float>,
  ) -> SIMD4<Float> {
    // A group has four vectors.
    let (x, y, z) = unsafe (lists[place] - red, lists[place &+ 1] - green, lists[place &+ 2] - blue)
    return x * x + y * y + z * z
  }

  @inline(never)
  private mutating func makeList(_ cell: Int, _ steps: SIMD4<UInt32>) -> UInt32 {
    let block = steps &>> (bits - 2)
    let parent = Int(block.x << 4 | block.y << 2 | block.z)
    if coarse[parent].isEmpty {
      coarse[parent] = candidates(coarse[64], from: SIMD4<Float>(block) * 64, side: 64)
    }
    let side = Float(256 >> bits)
    let start = lists.count
    let list = candidates(coarse[parent], from: SIMD4<Float>(steps) * side, side: side)
    lists += list
    let entry = UInt32(start << 7 | list.count / 4)
    cells.elements[cell] = entry
    return entry
  }

  /// Returns the colours of `list` that may be the nearest to a point in a cube.
  ///
  /// A colour is out if its shortest distance to the cube is longer than the longest of another.
  private func candidates(
    _ list: [SIMD4<Float>],
    from low: SIMD4<Float>,
    side: Float,
  ) -> [SIMD4<Float>] {
    var shortest = [SIMD4<Float>](repeating: SIMD4(), count: list.count / 4)
    var limits = SIMD4<Float>(repeating: .infinity)
    for group in shortest.indices {
      var longest = SIMD4<Float>()
      for component in 0..<3 {
        let fromLow = list[group * 4 + component] - low[component]
        let fromHigh = side - fromLow
        let farther = fromLow.replacing(with: fromHigh, where: fromHigh .> fromLow)
        longest += farther * farther
        // Of the two, the negative one says how far outside the colour is.
        let inside = side - farther
        let outside = inside.replacing(with: 0, where: inside .> 0)
        shortest[group] += outside * outside
      }
      limits.replace(with: longest, where: longest .< limits)
    }
    let limit = limits.least
    var kept = 0
    var result: [SIMD4<Float>] = []
    result.reserveCapacity(list.count)
    for group in shortest.indices {
      for lane in 0..<4 where shortest[group][lane] <= limit {
        if kept % 4 == 0 { result += Self.filler }
        for part in 0..<4 { result[kept & ~3 | part][kept % 4] = list[group * 4 + part][lane] }
        kept += 1
      }
    }
    return result
  }

  /// A group of nothing: farther away than any colour.
  private static let filler = [SIMD4<Float>](repeating: SIMD4(repeating: 1e6), count: 4)

  private static func groups(_ colors: [SIMD4<Float>]) -> [SIMD4<Float>] {
    var groups: [SIMD4<Float>] = []
    for (index, color) in colors.enumerated() {
      if index % 4 == 0 { groups += filler }
      for component in 0..<3 { groups[index & ~3 | component][index % 4] = color[component] }
      groups[index | 3][index % 4] = Float(index)
    }
    return groups
  }
}

extension SIMD4 where Scalar == Float {
  /// The least of the four.
  @inline(__always)
  fileprivate var least: Float {
    let half = lowHalf.replacing(with: highHalf, where: highHalf .< lowHalf)
    return half.y < half.x ? half.y : half.x
  }
}
