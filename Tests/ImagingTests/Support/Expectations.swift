import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Decodes with the standard decoders.
func decode(
  _ data: Data,
  _ size: TargetSize? = nil,
  _ change: (inout DecodeOptions) -> Void = { _ in },
) throws(ImageError) -> ImageContainer {
  var options = DecodeOptions(size: size)
  change(&options)
  return try DecoderRegistry.standard.decode(data, options)
}

func info(_ data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageInfo {
  try DecoderRegistry.standard.info(of: data, limits: limits)
}

extension Bitmap {
  /// The pixels, row by row.
  var pixels: [SIMD4<UInt8>] { (0..<height).flatMap { y in (0..<width).map { self[$0, y] } } }

  /// Whether all components of each pair of corner pixels differ by `tolerance` at most.
  func hasCorners(_ corners: [SIMD4<UInt8>], tolerance: Int) -> Bool {
    let own = [self[0, 0], self[width - 1, 0], self[0, height - 1], self[width - 1, height - 1]]
    return zip(own, corners).allSatisfy { $0.isWithin(tolerance, of: $1) }
  }

  /// The rows from `first` on.
  func rows(_ range: Range<Int>) -> Bitmap {
    .pixels(width: width, height: range.count, alpha: alpha) { x, y in self[x, range.lowerBound + y] }
  }

  /// The largest standard deviation of a colour over the picture, in levels.
  var contrast: Double {
    let all = pixels
    let deviations = (0..<3).map { component in
      let mean = all.reduce(0) { $0 + Double($1[component]) } / Double(all.count)
      return (all.reduce(0) { $0 + pow(Double($1[component]) - mean, 2) } / Double(all.count)).squareRoot()
    }
    return deviations.max() ?? 0
  }

  /// The same picture as an encoder sees it that stores it turned by `orientation`.
  func stored(_ orientation: Orientation) -> Bitmap {
    let (width, height) = orientation.applied(width: width, height: height)
    return .pixels(width: width, height: height, alpha: alpha) { x, y in
      let place = orientation.upright(x: x, y: y, width: width, height: height)
      return self[place.x, place.y]
    }
  }
}
