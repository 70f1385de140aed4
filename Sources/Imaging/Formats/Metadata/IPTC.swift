import VitrineRuntime

/// The fields of IPTC's Information Interchange Model (version 4.2), which older programs of photographers write.
package enum IPTC {
  /// The name of the segments of a JPEG that have Photoshop's resources.
  static let resourceName = Array("Photoshop 3.0\0".utf8)

  /// Returns the fields in Photoshop's resources, which are number 0x0404; `nil` if there are none.
  static func fields(ofResources bytes: ByteReader) -> ByteReader? {
    var offset = 0
    // The signature, the number, a name and a length; the name and the content are padded to an even length.
    while bytes.matches("8BIM", at: offset), let name = bytes.byte(at: offset + 6) {
      let length = offset + 6 + (Int(name) + 2) / 2 * 2
      guard let number = bytes.bigEndian16(at: offset + 4), let size = bytes.bigEndian32(at: length) else { return nil }
      let content = bytes.slice(length + 4, Int(size))
      if number == 0x0404 { return content.count > 0 ? content : nil }
      offset = length + 4 + (Int(size) + 1) / 2 * 2
    }
    return nil
  }

  /// Returns the texts of the fields by their names, in the order of the first of each.
  ///
  /// It reads up to the first field that is damaged. A name whose texts have `limit` bytes gets no further ones.
  /// Complexity: O(bytes).
  static func texts(_ bytes: ByteReader, limit: Int) -> [(name: String, values: [String])] {
    var texts: [(name: String, values: [String])] = []
    // By the fields' numbers; a file may have millions of fields.
    var known: [UInt8: (index: Int, length: Int)] = [:]
    var (offset, isUTF8) = (0, false)
    while bytes.byte(at: offset) == 0x1C, let record = bytes.byte(at: offset + 1),
      let number = bytes.byte(at: offset + 2), let length = length(bytes, &offset), length <= bytes.count - offset
    {
      let content = bytes.slice(offset, length)
      offset += length
      // The escape sequence of UTF-8 in the envelope.
      if record == 1, number == 90 { isUTF8 = content.starts(with: [0x1B, 0x25, 0x47]) }
      guard record == 2, let name = names[number], (known[number]?.length ?? 0) < limit else { continue }
      let text = text(content.slice(0, TIFFBlock.textLimit).copy(), isUTF8)
      guard !text.isEmpty else { continue }
      if known[number] == nil { texts.append((name, [])) }
      let (index, length) = known[number] ?? (texts.count - 1, 0)
      texts[index].values.append(text)
      known[number] = (index, length + text.utf8.count)
    }
    return texts
  }

  /// Reads the length of the field at `offset`, and goes on to its content; returns `nil` at the end of the bytes.
  private static func length(_ bytes: ByteReader, _ offset: inout Int) -> Int? {
    guard let length = bytes.bigEndian16(at: offset + 3) else { return nil }
    offset += 5
    guard length & 0x8000 != 0 else { return Int(length) }
    // The length of a long field's length, of which none is longer than four bytes.
    guard length == 0x8004, let long = bytes.bigEndian32(at: offset) else { return nil }
    offset += 4
    return Int(long)
  }

  /// Returns a text without control characters; bytes that are not UTF-8 are Latin 1, unless they should be.
  private static func text(_ bytes: [UInt8], _ isUTF8: Bool) -> String {
    let isText = isUTF8 || String(validating: bytes, as: UTF8.self) != nil
    let text = isText ? String(decoding: bytes, as: UTF8.self) : String(bytes.map { Character(Unicode.Scalar($0)) })
    let shown = text.unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? " " : Character($0) }
    let start = shown.drop { $0.isWhitespace }
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }

  /// The names of fields that people read.
  private static let names: [UInt8: String] = [
    5: "ObjectName", 7: "EditStatus", 10: "Urgency", 15: "Category", 20: "SupplementalCategory", 25: "Keywords",
    40: "SpecialInstructions", 55: "DateCreated", 60: "TimeCreated", 62: "DigitalCreationDate",
    63: "DigitalCreationTime", 65: "OriginatingProgram", 70: "ProgramVersion", 80: "Byline", 85: "BylineTitle",
    90: "City", 92: "Sublocation", 95: "ProvinceState", 100: "CountryCode", 101: "CountryName",
    103: "OriginalTransmissionReference", 105: "Headline", 110: "Credit", 115: "Source", 116: "CopyrightNotice",
    118: "Contact", 120: "Caption", 122: "Writer",
  ]
}

extension ImageMetadata {
  /// Reads the EXIF of a TIFF file, and the XMP and IPTC of its first directory; BigTIFF is not read.
  package mutating func read(tiff: ByteReader, limit: Int) {
    guard let file = TIFFBlock(tiff) else { return }
    exif = EXIFDirectories(file).block(limit: limit)
    file.forEachEntry(of: file.firstDirectory) { tag, value in
      let bytes = value.block.bytes
      guard bytes.count > 0, bytes.count <= limit else { return }
      switch tag {
      case 700: xmp = Data(bytes.copy())
      case 33_723: iptc = Data(bytes.copy())
      case 34_377 where iptc == nil: iptc = IPTC.fields(ofResources: bytes).map { Data($0.copy()) }
      default: break
      }
    }
  }
}
