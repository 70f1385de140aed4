import CLibLCMS
import VitrineRuntime

/// A Little CMS transform from a profile to a colour space, for profiles that are more than curves and a matrix.
///
/// The intent is relative colorimetric with black point compensation: white stays white and black becomes black.
@safe
final class ProfileTransform: Sendable {
  /// The maximum size of a profile in bytes.
  ///
  /// Larger ones are ignored; printer profiles have half a megabyte to two.
  static let profileLimit = 4 << 20

  // Owned: made in init, destroyed in deinit, constant in between. Without Little CMS's cache of the last pixel any
  // number of threads may use a transform at once.
  nonisolated(unsafe) private let transform: cmsHTRANSFORM
  nonisolated(unsafe) private let context: cmsContext
  private let model: ColorModel
  private let target: ColorSpace
  /// The colours of inks.
  private let inks: InkTable?

  /// Returns `nil` for profiles that Little CMS rejects, or that are made for another kind of pixels.
  init?(_ profile: ColorProfile, _ model: ColorModel, to target: ColorSpace) {
    // A context of its own, so that the program's settings of the common one, such as an error handler, have no
    // effect.
    guard profile.data.count <= Self.profileLimit, let context = unsafe cmsCreateContext(nil, nil) else { return nil }
    guard let transform = unsafe Self.make(profile, model, target, context) else {
      unsafe cmsDeleteContext(context)
      return nil
    }
    unsafe self.transform = transform
    unsafe self.context = context
    (self.model, self.target) = (model, target)
    inks = model == .cmyk ? InkTable() : nil
  }

  deinit {
    unsafe cmsDeleteTransform(transform)
    unsafe cmsDeleteContext(context)
  }

  private static func make(
    _ profile: ColorProfile,
    _ model: ColorModel,
    _ target: ColorSpace,
    _ context: cmsContext,
  ) -> cmsHTRANSFORM? {
    // Little CMS copies the bytes.
    let opened = unsafe profile.data.withUnsafeBytes { bytes in
      unsafe cmsOpenProfileFromMemTHR(context, bytes.baseAddress, UInt32(bytes.count))
    }
    guard let source = unsafe opened else { return nil }
    defer { unsafe cmsCloseProfile(source) }
    let (space, format, result) =
      switch model {
      case .rgb: (cmsSigRgbData, vitrine_lcms_rgba_8, vitrine_lcms_rgba_8)
      case .gray: (cmsSigGrayData, vitrine_lcms_gray_8, vitrine_lcms_rgba_8)
      case .cmyk: (cmsSigCmykData, vitrine_lcms_cmyk_16, vitrine_lcms_rgba_16)
      }
    // Link and named-colour profiles do not describe pixels.
    let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
    guard unsafe cmsGetColorSpace(source) == space, unsafe classes.contains(cmsGetDeviceClass(source)),
      let end = unsafe makeTarget(target, context)
    else { return nil }
    defer { unsafe cmsCloseProfile(end) }
    // There are only 256 grays, so their curve is followed exactly. Inks have a table of their own.
    let optimization = model == .rgb ? 0 : cmsFLAGS_NOOPTIMIZE
    return unsafe cmsCreateTransformTHR(
      context,
      source,
      format,
      end,
      result,
      UInt32(INTENT_RELATIVE_COLORIMETRIC),
      UInt32(optimization | cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION),
    )
  }

  private static func makeTarget(_ target: ColorSpace, _ context: cmsContext) -> cmsHPROFILE? {
    guard target == .displayP3 else { return unsafe cmsCreate_sRGBProfileTHR(context) }
    func point(_ value: ColorEncoding.Chromaticity) -> cmsCIExyY { cmsCIExyY(x: value.x, y: value.y, Y: 1) }
    let encoding = ColorEncoding.displayP3
    var white = point(encoding.white)
    var primaries = cmsCIExyYTRIPLE(Red: point(encoding.red), Green: point(encoding.green), Blue: point(encoding.blue))
    // IEC 61966-2-1 as Little CMS's fourth parametric curve.
    let parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
    guard let curve = unsafe cmsBuildParametricToneCurve(context, 4, parameters) else { return nil }
    defer { unsafe cmsFreeToneCurve(curve) }
    var curves: [OpaquePointer?] = unsafe [curve, curve, curve]
    return unsafe cmsCreateRGBProfileTHR(context, &white, &primaries, &curves)
  }

  /// Converts pixels in place: RGBA, whose alpha stays, or four inks, which become opaque colours.
  func apply(to pixels: MutableElements<UInt8>) {
    precondition(model != .gray)
    if let inks {
      return inks.apply(to: pixels) { mixture in
        var (mixture, color) = (mixture, SIMD4<UInt16>())
        // One pixel of four numbers in, and one out.
        unsafe cmsDoTransform(transform, &mixture, &color, 1)
        return color
      }
    }
    unsafe pixels.withUnsafeBufferPointer {
      // Each pixel has four bytes before and after, and is read before it is written.
      unsafe cmsDoTransform(transform, $0.baseAddress, $0.baseAddress, UInt32($0.count / 4))
    }
  }

  /// Returns the colour of each of the 256 grays.
  func colorsOfGrays() -> [SIMD4<UInt8>] {
    precondition(model == .gray)
    let grays = (0...255).map { UInt8($0) }
    var colors = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 255), count: 256)
    // 256 bytes in, 256 pixels of four bytes out.
    unsafe cmsDoTransform(transform, grays, &colors, 256)
    return colors
  }
}
