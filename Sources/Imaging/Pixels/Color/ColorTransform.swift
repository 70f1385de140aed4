import VitrineRuntime

/// Converts finished pixels, of which there are few, to the requested colour space.
///
/// Profiles of a matrix and three curves are converted with tables of our own, within a level of Little CMS and in a
/// third of its time. Profiles with colour tables, and inks, are left to Little CMS. A profile that is broken, or
/// made for other pixels, is ignored: no picture is rejected for its profile.
struct ColorTransform: Sendable {
  private enum Kind {
    case matrix(MatrixTransform)
    case table(ProfileTransform)
    case gray([SIMD4<UInt8>])
    /// Inks without a profile: each absorbs its share of the light.
    case ink(MatrixTransform?)
  }

  private let kind: Kind

  /// Makes a transform for the colours of an image; returns `nil` if it would change nothing by more than a level.
  ///
  /// - Parameters:
  ///   - profile: The image's profile.
  ///   - encoding: The colours that the file declares without one.
  ///   - model: The components of the file.
  ///   - isInk: `true` for pixels of ink; otherwise they are red, green and blue, which are equal in a gray image.
  ///   - target: The colour space of the result.
  init?(_ profile: ColorProfile?, _ encoding: ColorEncoding?, _ model: ColorModel, isInk: Bool, to target: ColorSpace) {
    let kind =
      isInk
      ? Self.kind(ofInks: profile, target)
      : profile.map { Self.kind(of: $0, model, target) } ?? Self.kind(encoding, target)
    guard let kind else { return nil }
    self.kind = kind
  }

  /// Makes a transform for red, green and blue; returns `nil` if it would change nothing by more than a level.
  init?(from source: MatrixShaper?, to target: ColorSpace) {
    guard let kind = Self.kind(source, target) else { return nil }
    self.kind = kind
  }

  private static func kind(ofInks profile: ColorProfile?, _ target: ColorSpace) -> Kind {
    if let profile, let transform = ProfileTransform.cached(profile, .cmyk, to: target) { return .table(transform) }
    return .ink(fromSRGB(to: target))
  }

  private static func kind(of profile: ColorProfile, _ model: ColorModel, _ target: ColorSpace) -> Kind? {
    switch profile.kind {
    case .matrix(let shaper): return kind(shaper, target)
    // One that is made for other pixels is ignored.
    case .gray(let curve) where model == .gray:
      return kind(MatrixShaper(curves: [curve, curve, curve], matrix: nil), target)
    case .table(.gray) where model == .gray:
      if let transform = ProfileTransform.cached(profile, .gray, to: target) {
        return .gray(transform.colorsOfGrays())
      }
    case .table(.rgb):
      if let transform = ProfileTransform.cached(profile, .rgb, to: target) { return .table(transform) }
    default: break
    }
    return kind(ColorEncoding.sRGB, target)
  }

  /// Without an encoding, sRGB is assumed.
  private static func kind(_ encoding: ColorEncoding?, _ target: ColorSpace) -> Kind? {
    guard let encoding, encoding != .sRGB else { return fromSRGB(to: target).map { .matrix($0) } }
    return kind(encoding.matrixShaper, target)
  }

  /// Returns the transform from the most common space.
  private static func fromSRGB(to target: ColorSpace) -> MatrixTransform? {
    switch target {
    case .sRGB: nil
    case .displayP3: displayP3FromSRGB
    }
  }

  /// Made once, because its table takes as long as a small image.
  private static let displayP3FromSRGB = ColorEncoding.sRGB.matrixShaper.flatMap {
    MatrixTransform($0, to: .displayP3)
  }

  private static func kind(_ source: MatrixShaper?, _ target: ColorSpace) -> Kind? {
    source.flatMap { MatrixTransform($0, to: target) }.map { .matrix($0) }
  }

  /// Converts pixels in place: RGBA with straight alpha, or four inks, which become opaque colours.
  func apply(to pixels: MutableElements<UInt8>) {
    switch kind {
    case .matrix(let transform): transform.apply(to: pixels)
    case .table(let transform): transform.apply(to: pixels)
    case .gray(let colors):
      pixels.updateEachPixel { pixel in
        var color = colors[Int(pixel.x)]
        color.w = pixel.w
        return color
      }
    case .ink(let transform):
      pixels.updateEachPixel { ink in
        let paper = 255 &- ink
        let product = SIMD4<UInt16>(truncatingIfNeeded: paper) &* UInt16(paper.w) &+ 127
        var color = SIMD4<UInt8>(truncatingIfNeeded: product / 255)
        color.w = 255
        return color
      }
      transform?.apply(to: pixels)
    }
  }
}

/// Curves, a matrix, and a curve back.
struct MatrixTransform: Sendable {
  /// The contribution of each byte of red, then of green, then of blue to the light of a pixel.
  private let light: [SIMD4<Float>]

  /// Returns `nil` if it would change no colour by more than a level.
  init?(_ source: MatrixShaper, to target: ColorSpace) {
    let product = source.matrix.map { matrix in
      target.fromConnectionSpace.map { row in
        (0..<3).map { column in
          var sum = 0.0
          for place in 0..<3 { sum += row[place] * matrix[place][column] }
          return sum
        }
      }
    }
    let rows = product ?? [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    light = (0..<3).flatMap { component in
      let column = SIMD4(Float(rows[0][component]), Float(rows[1][component]), Float(rows[2][component]), 0)
      return source.curves[component].map { column * $0 }
    }
    guard light.count == 3 * 256, !isIdentity else { return nil }
  }

  private var isIdentity: Bool {
    let levels: [UInt8] = [0, 20, 64, 128, 200, 255]
    var colors = levels.flatMap { red in
      levels.flatMap { green in levels.map { blue in SIMD4(red, green, blue, 255) } }
    }
    let before = colors
    // The memory of whole pixels.
    unsafe colors.withUnsafeMutableBytes { unsafe apply(to: MutableElements($0)) }
    return zip(colors, before).allSatisfy { after, before in
      (0..<3).allSatisfy { abs(Int(after[$0]) - Int(before[$0])) <= 1 }
    }
  }

  func apply(to pixels: MutableElements<UInt8>) {
    light.withElements { light in
      TransferCurve.sRGB.encoded.withElements { encoded in
        // An entry for each byte of the three, and for each place of the curve, so that no look-up needs a check.
        precondition(light.count == 3 * 256 && encoded.count == TransferCurve.placeCount)
        pixels.updateEachPixel { pixel in
          let sum = light[Int(pixel.x)] + light[256 &+ Int(pixel.y)] + light[512 &+ Int(pixel.z)]
          let place = TransferCurve.place(sum)
          return SIMD4(encoded[Int(place.x)], encoded[Int(place.y)], encoded[Int(place.z)], pixel.w)
        }
      }
    }
  }
}
