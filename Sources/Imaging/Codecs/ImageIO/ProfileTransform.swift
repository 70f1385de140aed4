import CoreGraphics
import VitrineRuntime

/// A conversion by CoreGraphics from a profile to a colour space, for profiles that are more than curves and a matrix.
final class ProfileTransform: Sendable {
  /// The maximum size of a profile in bytes.
  ///
  /// Larger ones are ignored; printer profiles have half a megabyte to two.
  static let profileLimit = 4 << 20

  private let source: CGColorSpace
  private let model: ColorModel
  private let target: ColorSpace

  /// Returns `nil` for profiles that CoreGraphics rejects, or that are made for another kind of pixels.
  init?(_ profile: ColorProfile, _ model: ColorModel, to target: ColorSpace) {
    guard profile.data.count <= Self.profileLimit, let source = CGColorSpace(iccData: profile.data as CFData) else {
      return nil
    }
    let models: [ColorModel: CGColorSpaceModel] = [.rgb: .rgb, .gray: .monochrome, .cmyk: .cmyk]
    guard source.model == models[model] else { return nil }
    (self.source, self.model, self.target) = (source, model, target)
  }

  /// Converts pixels in place: RGBA, whose alpha stays, or four inks, which become opaque colours.
  ///
  /// If there is no memory, the pixels stay as they are.
  func apply(to pixels: MutableElements<UInt8>) {
    precondition(model != .gray)
    let count = pixels.count / 4
    guard count > 0 else { return }
    // Alpha is left out: a context would multiply the colours by it.
    let converted = convert(pixels.elements, count: count, bytesPerPixel: 4)
    guard converted.count == 4 * count else { return }
    for offset in stride(from: 0, to: 4 * count, by: 4) {
      for index in 0..<3 { pixels[offset + index] = converted[offset + index] }
      if model == .cmyk { pixels[offset + 3] = 255 }
    }
  }

  /// Returns the colour of each of the 256 grays.
  func colorsOfGrays() -> [SIMD4<UInt8>] {
    precondition(model == .gray)
    let grays = (0...255).map { UInt8($0) }
    let colors = grays.withElements { convert($0, count: 256, bytesPerPixel: 1) }
    return (0..<256).map { gray in
      guard colors.count == 1024 else { return SIMD4(grays[gray], grays[gray], grays[gray], 255) }
      return SIMD4(colors[4 * gray], colors[4 * gray + 1], colors[4 * gray + 2], 255)
    }
  }

  /// Converts pixels to RGB with a fourth byte; returns nothing if CoreGraphics fails.
  private func convert(_ pixels: Elements<UInt8>, count: Int, bytesPerPixel: Int) -> [UInt8] {
    let alpha = bytesPerPixel == 4 && model == .rgb ? CGImageAlphaInfo.noneSkipLast : .none
    let data = Data(pixels.extracting(0..<count * bytesPerPixel).array) as CFData
    guard let provider = CGDataProvider(data: data),
      let image = unsafe CGImage(
        width: count,
        height: 1,
        bitsPerComponent: 8,
        bitsPerPixel: 8 * bytesPerPixel,
        bytesPerRow: count * bytesPerPixel,
        space: source,
        bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue),
        provider: provider,
        decode: nil,
        shouldInterpolate: false,
        intent: .relativeColorimetric,
      )
    else { return [] }
    var result = [UInt8](repeating: 0, count: 4 * count)
    let isDrawn = unsafe result.withUnsafeMutableBytes { target in
      image.draw(
        into: unsafe MutableElements(target),
        width: count,
        height: 1,
        in: self.target.platform,
        hasAlpha: false,
      )
    }
    return isDrawn ? result : []
  }
}
