/// The colour space of a bitmap's components.
public enum ColorSpace: String, Hashable, Sendable, CaseIterable {
  /// sRGB (IEC 61966-2-1), the web's default.
  case sRGB
  /// Display P3: the primaries of DCI-P3 with the white point and the curve of sRGB. Many displays of phones and
  /// laptops can show it.
  case displayP3

  /// The matrix from XYZ relative to D50 to linear light: the inverse of the primaries, adapted to D50 with the
  /// Bradford transform.
  var fromConnectionSpace: [[Double]] {
    switch self {
    case .sRGB:
      [[3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427]]
    case .displayP3:
      [[2.4039840, -0.9899069, -0.3976415], [-0.8422229, 1.7988437, 0.0160354], [0.0482059, -0.0974068, 1.2740049]]
    }
  }

  /// The encoding that converts components of this space to light.
  var encoding: ColorEncoding { self == .sRGB ? .sRGB : .displayP3 }
}

/// The quantities that an image's components measure.
public enum ColorModel: String, Hashable, Sendable, CaseIterable {
  /// Red, green and blue light.
  case rgb
  /// Light without colour.
  case gray
  /// Cyan, magenta, yellow and black ink.
  case cmyk
}
