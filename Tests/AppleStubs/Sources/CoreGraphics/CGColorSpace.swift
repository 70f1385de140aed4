/// The kind of a colour space's components.
public enum CGColorSpaceModel: Int32, Sendable {
  /// Unknown.
  case unknown = -1
  /// Gray.
  case monochrome
  /// Red, green and blue.
  case rgb
  /// Inks.
  case cmyk
  /// CIE L*a*b*.
  case lab
  /// Named colourants.
  case deviceN
  /// A palette.
  case indexed
  /// A pattern.
  case pattern
  /// CIE XYZ.
  case XYZ
}

// @unchecked: constant after it has been made; NSString and Data are immutable.
/// A colour space: one with a name, or one described by an ICC profile.
public final class CGColorSpace: @unchecked Sendable {
  /// The name; `nil` for a profile's space.
  public let name: CFString?
  /// The kind of the components.
  public let model: CGColorSpaceModel
  private let profile: Data?

  init(_ name: String, _ model: CGColorSpaceModel) {
    (self.name, self.model, profile) = (name as NSString, model, nil)
  }

  /// Makes a space with one of the names below; `nil` for others.
  public convenience init?(name: CFString) {
    guard let model = Self.models[name as String] else { return nil }
    self.init(name as String, model)
  }

  /// Makes the space of an ICC profile; `nil` if the data is none.
  public init?(iccData: CFTypeRef?) {
    guard let data = (iccData as? NSData).map({ Data(referencing: $0) }), data.count >= 132,
      data.dropFirst(36).prefix(4) == Data("acsp".utf8)
    else { return nil }
    switch String(decoding: data.dropFirst(16).prefix(4), as: UTF8.self) {
    case "RGB ": model = .rgb
    case "GRAY": model = .monochrome
    case "CMYK": model = .cmyk
    case "Lab ": model = .lab
    default: return nil
    }
    (name, profile) = (nil, data)
  }

  /// A Boolean value that indicates whether a bitmap context can draw in it.
  public var supportsOutput: Bool { model != .indexed && model != .lab }

  /// Returns the profile; the stub has one only for spaces made of one.
  public func copyICCData() -> CFData? { profile.map { $0 as NSData } }

  /// sRGB.
  public static var sRGB: CFString { "kCGColorSpaceSRGB" as NSString }
  /// Display P3.
  public static var displayP3: CFString { "kCGColorSpaceDisplayP3" as NSString }
  /// Display P3 with linear light beyond 0 and 1.
  public static var extendedLinearDisplayP3: CFString { "kCGColorSpaceExtendedLinearDisplayP3" as NSString }
  /// BT.2100 with PQ.
  public static var itur_2100_PQ: CFString { "kCGColorSpaceITUR_2100_PQ" as NSString }
  /// BT.2100 with HLG.
  public static var itur_2100_HLG: CFString { "kCGColorSpaceITUR_2100_HLG" as NSString }

  private static let models: [String: CGColorSpaceModel] = [
    "kCGColorSpaceSRGB": .rgb, "kCGColorSpaceDisplayP3": .rgb, "kCGColorSpaceLinearSRGB": .rgb,
    "kCGColorSpaceExtendedLinearDisplayP3": .rgb, "kCGColorSpaceGenericGrayGamma2_2": .monochrome,
    "kCGColorSpaceGenericCMYK": .cmyk, "kCGColorSpaceITUR_2100_PQ": .rgb, "kCGColorSpaceITUR_2100_HLG": .rgb,
  ]
}

/// Whether a space has the transfer function PQ.
public func CGColorSpaceIsPQBased(_ space: CGColorSpace) -> Bool { space.name == CGColorSpace.itur_2100_PQ }

/// Whether a space has the transfer function HLG.
public func CGColorSpaceIsHLGBased(_ space: CGColorSpace) -> Bool { space.name == CGColorSpace.itur_2100_HLG }

/// Returns the space of a display's red, green and blue; the stub takes it for sRGB.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace("kCGColorSpaceSRGB", .rgb) }

/// Returns the space of a display's gray.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {
  CGColorSpace("kCGColorSpaceGenericGrayGamma2_2", .monochrome)
}

/// Returns the space of a printer's inks.
public func CGColorSpaceCreateDeviceCMYK() -> CGColorSpace { CGColorSpace("kCGColorSpaceGenericCMYK", .cmyk) }
