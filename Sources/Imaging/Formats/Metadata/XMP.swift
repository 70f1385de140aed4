/// The part of XMP (ISO 16684-1) that decoding needs.
enum XMP {
  /// The maximum length of a packet that is searched.
  private static let limit = 1 << 20

  /// Returns the property `tiff:Orientation`, an attribute or an element; `nil` if it is missing or invalid.
  ///
  /// Complexity: O(bytes), at most one megabyte.
  static func orientation(_ packet: ByteReader) -> Orientation? {
    let packet = packet.slice(0, limit)
    let name: StaticString = "tiff:Orientation"
    for offset in 0..<packet.count where packet.byte(at: offset) == 0x74 && packet.matches(name, at: offset) {
      var digit = offset + name.utf8CodeUnitCount
      while let byte = packet.byte(at: digit), [0x20, 0x09, 0x0A, 0x0D, 0x3D, 0x22, 0x27, 0x3E].contains(byte) {
        digit += 1
      }
      let isAlone = !(0x30...0x39).contains(packet.byte(at: digit + 1) ?? 0)
      if isAlone, let byte = packet.byte(at: digit), let value = Orientation(rawValue: Int(byte) - 0x30) {
        return value
      }
    }
    return nil
  }
}
