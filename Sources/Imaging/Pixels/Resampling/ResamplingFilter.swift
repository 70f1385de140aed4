import VitrineRuntime

/// The filter that makes pixels of one size from pixels of another.
///
/// For downsampling, all but ``box`` are widened by the scale, so that they remove detail that the smaller size
/// cannot show.
public enum ResamplingFilter: String, Hashable, Sendable, CaseIterable {
  /// The mean of the area that a pixel covers.
  ///
  /// It does not ring. Enlarged pixels stay hard squares, which suits pixel art.
  case box
  /// Weights that fall linearly over one pixel to each side.
  ///
  /// The result is soft. For enlarging this is the usual bilinear interpolation.
  case bilinear
  /// The cubic of Mitchell and Netravali with both parameters 1/3, over two pixels to each side.
  ///
  /// A compromise between softness and ringing; the best of these for enlarging photographs.
  case mitchell
  /// A windowed sinc with three lobes to each side: the sharpest, and the default.
  case lanczos3

  /// The reach of the kernel to each side, in pixels of the smaller of both sizes.
  var support: Double {
    switch self {
    case .box: 0.5
    case .bilinear: 1
    case .mitchell: 2
    case .lanczos3: 3
    }
  }

  /// Returns the kernel at `x` pixels from its middle; ``box`` uses areas instead.
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

  /// True if blocks of pixels may be averaged first, because the weights then restore what that has blurred.
  ///
  /// The box filter has no such weights and needs none: its own are means.
  var restoresMeans: Bool { self != .box }
}
