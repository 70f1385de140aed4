extension Bitmap {
  /// The longer side at which an image is hashed, in pixels.
  private static let longerHashedSide = 100.0
  /// The shorter side that shows all that the components across it can say.
  private static let shorterHashedSide = 32.0

  /// Returns the bitmap in sRGB at the size at which it is hashed.
  ///
  /// Its longer side has at most 100 pixels. A thin image is not made so thin that its colours across are lost.
  func reducedForHashing() -> Bitmap {
    let scale = min(1, Self.longerHashedSide / Double(max(width, height)))
    func side(_ length: Int) -> Double {
      min(Double(length), max(Self.shorterHashedSide, (Double(length) * scale).rounded()))
    }
    // It fails for no bitmap; a large one would only take longer.
    let small = (try? resized(to: .pixels(side(width), side(height), .exact))) ?? self
    return small.converted(to: .sRGB)
  }
}
