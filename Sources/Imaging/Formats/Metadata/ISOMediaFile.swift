/// The boxes of an ISO base media file (ISO/IEC 14496-12), the container of HEIF and AVIF.
package enum ISOMediaFile {
  /// The pictures of a file, by its brands.
  enum Picture { case av1, other }

  private static let av1Brands: Set<String> = ["avif", "avis"]
  private static let otherBrands: Set<String> = [
    "heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs",
  ]

  /// Returns the pictures of a file (ISO/IEC 14496-12, `ftyp`); `nil` for another file, such as a video.
  ///
  /// The major brand decides, then the compatible ones.
  static func picture(_ bytes: ByteReader) -> Picture? {
    guard bytes.matches("ftyp", at: 4), let length = bytes.bigEndian32(at: 0) else { return nil }
    var brands: [String] = []
    var offset = 8
    while offset + 4 <= min(Int(length), 256), let brand = bytes.ascii(at: offset, count: 4) {
      if offset != 12 { brands.append(brand) }  // 12 is the minor version
      offset += 4
    }
    if let major = brands.first, otherBrands.contains(major) { return .other }
    if brands.contains(where: av1Brands.contains) { return .av1 }
    let isOther = brands.contains { otherBrands.contains($0) || $0 == "mif1" || $0 == "msf1" }
    return isOther ? .other : nil
  }

  /// Returns `true` if a file begins with the signature box of JPEG 2000 or JPEG XL.
  static func hasSignature(_ type: StaticString, _ bytes: ByteReader) -> Bool {
    bytes.starts(with: [0, 0, 0, 12]) && bytes.matches(type, at: 4) && bytes.bigEndian32(at: 8) == 0x0D0A_870A
  }

  /// Returns `true` if a top-level box is longer than the data, or if the box that describes the picture is missing.
  ///
  /// Complexity: O(top-level boxes).
  package static func isTruncated(_ file: ByteReader) -> Bool {
    let (boxes, isWhole) = topBoxes(file)
    return !isWhole || !(boxes.contains("meta") || boxes.contains("moov"))
  }

  /// Returns `true` if there are tracks and no items.
  ///
  /// Complexity: O(top-level boxes).
  package static func hasOnlySequences(_ file: ByteReader) -> Bool {
    let boxes = topBoxes(file).types
    return boxes.contains("moov") && !boxes.contains("meta")
  }

  private static func topBoxes(_ file: ByteReader) -> (types: [String], isWhole: Bool) {
    var offset = 0
    var types: [String] = []
    while offset < file.count {
      guard let size = file.bigEndian32(at: offset), let type = file.ascii(at: offset + 4, count: 4) else {
        return (types, false)
      }
      types.append(type)
      var length = Int(size)
      if length == 0 { return (types, true) }  // up to the end of the file
      if length == 1 {
        guard let high = file.bigEndian32(at: offset + 8), high < 1 << 30, let low = file.bigEndian32(at: offset + 12)
        else { return (types, false) }
        length = Int(high) << 32 | Int(low)
      }
      guard length >= 8 else { return (types, true) }
      guard length <= file.count - offset else { return (types, false) }
      offset += length
    }
    return (types, true)
  }

  /// Returns the number of times that a sequence plays, by its edit list (ISO/IEC 14496-12, 8.6.6); 0 for endless, and
  /// if the file does not say, as in browsers.
  ///
  /// Complexity: O(boxes).
  package static func loopCount(_ file: ByteReader) -> Int {
    guard let movie = first("moov", in: file), let track = first("trak", in: movie),
      let edits = first("edts", in: track), let list = first("elst", in: edits), let header = first("tkhd", in: track)
    else { return 0 }
    func duration(_ box: ByteReader, at offsets: (short: Int, long: Int)) -> UInt64? {
      guard box.byte(at: 0) == 1 else {
        return box.bigEndian32(at: offsets.short).map { $0 == .max ? .max : UInt64($0) }
      }
      guard let high = box.bigEndian32(at: offsets.long), let low = box.bigEndian32(at: offsets.long + 4) else {
        return nil
      }
      return UInt64(high) << 32 | UInt64(low)
    }
    // The lowest flag says that the edit repeats to the end of the track.
    guard let flags = list.bigEndian32(at: 0), flags & 1 == 1 else { return 1 }
    guard let whole = duration(header, at: (20, 28)), let once = duration(list, at: (8, 8)), once > 0,
      // What writers write for a sequence without an end, in numbers of 32 and of 64 bits.
      ![UInt64.max, UInt64(Int64.max), UInt64(UInt32.max), UInt64(Int32.max)].contains(whole)
    else { return 0 }
    let count = whole / once + (whole % once == 0 ? 0 : 1)
    // No viewer sees the end of that.
    return count < Int32.max ? Int(count) : 0
  }

  /// Returns the brightest content in nits, by the first box of a picture's properties that says it: the maximum content
  /// light level (`clli`), or else the maximum of the mastering display (`mdcv`; ISO/IEC 23008-12, 6.5.34 and 6.5.35).
  ///
  /// Complexity: O(boxes).
  package static func peak(_ file: ByteReader) -> Double? {
    let properties = first("meta", in: file).flatMap { first("iprp", in: $0.slice(4, $0.count - 4)) }
      .flatMap { first("ipco", in: $0) }
    guard let properties else { return nil }
    if let level = first("clli", in: properties)?.bigEndian16(at: 0), level > 0 { return Double(level) }
    return first("mdcv", in: properties)?.bigEndian32(at: 16).map { Double($0) / 10_000 }
  }

  /// Returns the content of the first box of a type.
  private static func first(_ type: String, in bytes: ByteReader) -> ByteReader? {
    ISOMediaBox.all(in: bytes).first { $0.type == type }.map { bytes.slice($0.start, $0.end - $0.start) }
  }
}
