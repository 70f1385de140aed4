@testable import VitrineCaching

extension DiskState {
  /// Checks all sums against their parts.
  var isConsistent: Bool {
    var lanes = PerGroup()
    for part in index.allParts { for entry in part.values { lanes[Int(entry.lane)] += 1 } }
    return segments.hasRightSums && bodies.hasRightSums && streamed.hasRightSums
      && index.allParts.reduce(0) { $0 + $1.count } == index.count && lanes == laneEntries
  }
}

extension SizedTable {
  /// Checks the sums against the files.
  var hasRightSums: Bool {
    var (sizes, numbers) = (PerGroup(), PerGroup())
    for file in values {
      sizes[file.group] += file.size
      numbers[file.group] += 1
    }
    return sizes == bytes && numbers == counts
  }
}
