import VitrineRuntime

/// How the pixels of one size are made of those of another.
///
/// All but ``box`` are widened by the scale when shrinking, so that they keep out what the smaller size cannot show.
public enum ResamplingFilter: String, Hashable, Sendable, CaseIterable {
  /// The mean of the area that a pixel covers.
  ///
  /// Nothing rings; enlarged pixels stay hard squares, which suits pixel art.
  case box
  /// Weights that fall off linearly over one pixel to each side.
  ///
  /// Soft; enlarging is the usual bilinear interpolation.
  case bilinear
  /// The cubic of Mitchell and Netravali with both parameters 1/3, over two pixels to each side.
  ///
  /// Between softness and ringing; the best of these for enlarging photographs.
  case mitchell
  /// A windowed sinc with three lobes to each side, the sharpest; the default.
  case lanczos3

  /// How far the kernel reaches to each side, in pixels of the smaller of both sizes.
  var support: Double {
    switch self {
    case .box: 0.5
    case .bilinear: 1
    case .mitchell: 2
    case .lanczos3: 3
    }
  }

  /// The kernel at `x` pixels from its middle; ``box`` has areas in its place.
  func kernel(_ x: Double) -> Double {
    let x = abs(x)
    guard x < support else { return 0 }
    switch self {
    case .box: return 1
    case .bilinear: return 1 - x
    case .mitchell:
      // D. P. Mitchell and A. N. Netravali, "Reconstruction Filters in Computer Graphics", 1988, B = C = 1/3.
      return x < 1 ? (7 * x * x * x - 12 * x * x + 16 / 3) / 6 : (((-7 / 3 * x + 12) * x - 20) * x + 32 / 3) / 6
    case .lanczos3:
      // C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979.
      guard x > 1e-8 else { return 1 }
      let angle = x * Double.pi
      return support * sin(angle) * sin(angle / support) / (angle * angle)
    }
  }

  /// Whether blocks of pixels may be averaged first, and the weights then restore what that has blurred.
  ///
  /// A box has no such weights, and needs none: its own are means.
  var restoresMeans: Bool { self != .box }
}
