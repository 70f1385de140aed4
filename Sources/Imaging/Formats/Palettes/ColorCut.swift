/// Divides the colours of a picture into boxes, each of which becomes a colour of a palette.
///
/// As Wu has it ("Efficient statistical computations for optimal color quantization", Graphics Gems II, 1991): always
/// the box and the plane that take away most of the squared error, not at the median. Wu adds moments in a grid
/// of 32 steps a component; here boxes are lists of colours, so that dark or pale pictures are divided as finely as any.
struct ColorCut {
  /// The colours, sorted so that each box is a range of them.
  private var points: [SIMD4<Float>]
  private var boxes: [Box]
  /// The sums of the colours with each value of a component, three times 256, and the number of pixels.
  private let sums = OwnedElements(repeating: SIMD4<Double>(), count: 3 * 256)

  private struct Box {
    var range: Range<Int>
    var sum: SIMD4<Double>
    /// The squared error that the best cut takes away; 0 if there is none.
    var gain = 0.0
    var axis = 0
    /// The lowest value of the upper half.
    var cut: Float = 0
  }

  /// Returns colours for a palette: `count`, or fewer if there are not so many.
  ///
  /// `points` are colours with the number of their pixels.
  static func palette(_ points: [SIMD4<Float>], count: Int) -> [SIMD4<Float>] {
    guard !points.isEmpty else { return [] }
    var cut = ColorCut(points)
    while cut.boxes.count < count, cut.divide() {}
    return cut.boxes.map { box in
      var mean = SIMD4<Float>(box.sum / box.sum.w)
      mean.w = 0
      return mean
    }
  }

  private init(_ points: [SIMD4<Float>]) {
    self.points = points
    boxes = []
    boxes.append(box(points.indices))
  }

  /// Divides the box where that helps most; returns `false` if it helps nowhere.
  private mutating func divide() -> Bool {
    guard let index = boxes.indices.max(by: { boxes[$0].gain < boxes[$1].gain }), boxes[index].gain > 0 else {
      return false
    }
    let box = boxes[index]
    let (axis, cut) = (box.axis, box.cut)
    let middle = points[box.range].partition { $0[axis] >= cut }
    boxes[index] = self.box(box.range.lowerBound..<middle)
    boxes.append(self.box(middle..<box.range.upperBound))
    return true
  }

  /// Makes a box, and finds its best cut.
  private func box(_ range: Range<Int>) -> Box {
    var (low, high) = (SIMD4<Float>(repeating: 255), SIMD4<Float>())
    for point in points[range] {
      low.replace(with: point, where: point .< low)
      high.replace(with: point, where: point .> high)
    }
    let first = SIMD4(Int(low.x), Int(low.y), Int(low.z), 0)
    let last = SIMD4(Int(high.x), Int(high.y), Int(high.z), 0)
    let sums = sums.elements
    for axis in 0..<3 {
      for value in first[axis]...last[axis] { sums[axis << 8 | value] = SIMD4() }
    }
    for point in points[range] {
      let weight = Double(point.w)
      var weighted = SIMD4<Double>(point) * weight
      weighted.w = weight
      // Components are 0 to 255.
      sums[Int(point.x)] += weighted
      sums[256 | Int(point.y)] += weighted
      sums[512 | Int(point.z)] += weighted
    }
    var sum = SIMD4<Double>()
    for value in Int(first.x)...Int(last.x) { sum += sums[value] }
    var box = Box(range: range, sum: sum)
    let whole = Self.quality(sum)
    for axis in 0..<3 where first[axis] < last[axis] {
      var lower = SIMD4<Double>()
      for value in Int(first[axis])..<Int(last[axis]) {
        let here = sums[axis << 8 | value]
        guard here.w > 0 else { continue }
        lower += here
        let gain = Self.quality(lower) + Self.quality(sum - lower) - whole
        if gain > box.gain { (box.gain, box.axis, box.cut) = (gain, axis, Float(value + 1)) }
      }
    }
    return box
  }

  /// The square of the sum over the number of pixels: with more of it, the squared error is smaller by as much.
  private static func quality(_ sum: SIMD4<Double>) -> Double {
    (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z) / sum.w
  }
}
