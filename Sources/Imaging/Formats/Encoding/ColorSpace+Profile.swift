extension ColorSpace {
  /// The ICC profile of the space; `nil` for sRGB, which readers of files without a profile assume.
  public var profile: ColorProfile? { self == .displayP3 ? Self.displayP3Profile : nil }

  // Made once; some 500 bytes. The code points are Display P3's (ITU-T H.273).
  private static let displayP3Profile = ColorProfile(primaries: 12, transfer: 13)
}
