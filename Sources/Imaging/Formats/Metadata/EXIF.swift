/// The part of EXIF (CIPA DC-008, itself a TIFF file) that decoding needs.
package enum EXIF {
  /// Returns the tag `Orientation` of the first directory; `nil` if it is missing or invalid.
  package static func orientation(_ tiff: ByteReader) -> Orientation? {
    let isLittle = tiff.starts(with: "II")
    guard isLittle || tiff.starts(with: "MM") else { return nil }
    func read16(_ offset: Int) -> UInt16? { isLittle ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset) }
    func read32(_ offset: Int) -> UInt32? { isLittle ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset) }

    guard read16(2) == 42, let directory = read32(4).map(Int.init), let count = read16(directory) else { return nil }
    for index in 0..<Int(count) {
      let entry = directory + 2 + index * 12
      guard let tag = read16(entry) else { return nil }
      guard tag == 0x0112 else { continue }
      // A SHORT is in the first two bytes of the value field. Some writers declare a LONG.
      let value = read16(entry + 2) == 4 ? read32(entry + 8).map(Int.init) : read16(entry + 8).map(Int.init)
      return value.flatMap(Orientation.init(rawValue:))
    }
    return nil
  }

  /// As ``orientation(_:)``, for a block that may begin with `Exif\0\0`, as in JPEG and in some WebP files.
  package static func orientation(block: ByteReader) -> Orientation? {
    orientation(isMarked(block) ? block.slice(6, block.count) : block)
  }

  static func isMarked(_ block: ByteReader) -> Bool {
    block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0])
  }
}

extension EXIF {
  /// Returns the block without the marker that JPEG has, and that some writers of other formats keep.
  static func block(_ bytes: ByteReader) -> ByteReader { isMarked(bytes) ? bytes.slice(6, bytes.count) : bytes }
}
