extension FixedWidthInteger {
  /// Makes the nearest number, and 0 of what is none.
  ///
  /// Clocks, headers and settings of others say anything.
  package init(clamping value: Double) {
    if value.isNaN {
      self = 0
    } else {
      // Double rounds the largest numbers up, to one that is none of this type's.
      self = Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
  }
}

extension Int {
  /// Adds without overflow, since sizes come from headers of strangers.
  package func addingSaturating(_ other: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? (other < 0 ? .min : .max) : sum
  }

  /// Multiplies without overflow; what is counted is never negative.
  package func multipliedSaturating(by other: Int) -> Int {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? .max : product
  }
}
