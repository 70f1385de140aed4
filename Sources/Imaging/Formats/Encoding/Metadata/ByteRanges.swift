/// Places in a block, in order and without overlaps.
struct ByteRanges {
  private(set) var ranges: [Range<Int>] = []

  /// Joins ranges that overlap or touch.
  ///
  /// Complexity: O(n log n).
  init(_ ranges: [Range<Int>]) {
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  var first: Int? { ranges.first?.lowerBound }
  var end: Int { ranges.last?.upperBound ?? 0 }

  /// Returns `true` if a range has a byte in common with one of these.
  ///
  /// Complexity: O(log n).
  func overlap(_ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound < range.upperBound
  }
}
