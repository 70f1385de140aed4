extension FixedWidthInteger {
  /// Creates the nearest representable number, and 0 from a NaN.
  ///
  /// Clocks, headers and settings may contain any number.
  package init(clamping value: Double) {
    if value.isNaN {
      self = 0
    } else {
      // Double rounds the largest integers up, to values that this type cannot represent.
      self = Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
  }
}

extension Int {
  /// Returns the sum, saturated, since sizes come from untrusted headers.
  package func addingSaturating(_ other: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the product, saturated.
  ///
  /// Both numbers must be non-negative.
  package func multipliedSaturating(by other: Int) -> Int {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? .max : product
  }
}
