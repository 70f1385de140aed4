/// The colours that a bitmap's numbers stand for.
public enum ColorSpace: String, Hashable, Sendable, CaseIterable {
  /// IEC 61966-2-1: what numbers mean on the web where nothing else is said.
  case sRGB
  /// The primaries of DCI-P3 with the white and the curve of sRGB: what many displays of phones and laptops can show.
  case displayP3

  /// From XYZ relative to D50 to linear light: the inverse of the primaries adapted to D50 with the Bradford transform.
  var fromConnectionSpace: [[Double]] {
    switch self {
    case .sRGB:
      [[3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427]]
    case .displayP3:
      [[2.4039840, -0.9899069, -0.3976415], [-0.8422229, 1.7988437, 0.0160354], [0.0482059, -0.0974068, 1.2740049]]
    }
  }

  /// What takes numbers of this space to light.
  var encoding: ColorEncoding { self == .sRGB ? .sRGB : .displayP3 }
}

/// What the numbers of an image count.
public enum ColorModel: String, Hashable, Sendable, CaseIterable {
  /// Red, green and blue light.
  case rgb
  /// Light without colour.
  case gray
  /// Cyan, magenta, yellow and black ink.
  case cmyk
}

extension Bitmap {
  /// The same picture in another colour space: itself where it is in that one.
  ///
  /// Colours that the space lacks are cut to it. Straight or no alpha comes out. Complexity: O(pixels).
  public func converted(to space: ColorSpace) -> Bitmap {
    guard space != colorSpace else { return self }
    let source = straightened()
    return unsafe Bitmap(width: width, height: height, alpha: source.alpha, colorSpace: space) { target in
      // Rows of a bitmap follow one another without a gap, and both have the same size.
      unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      unsafe ColorTransform(from: colorSpace.encoding.matrixShaper, to: space)?.apply(to: target)
    }
  }
}
