import VitrineRuntime

/// The metadata segments of a JPEG file, up to the first scan.
enum JPEGMetadata {
  static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
  static let extensionName = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

  /// Four times the number that 16 MiB of text need.
  ///
  /// For each new one the first packet is searched for its name.
  private static let pieceLimit = 1024

  static func read(_ bytes: ByteReader, limit: Int) -> ImageMetadata {
    var metadata = ImageMetadata()
    var pieces: [(guid: String, length: Int, offset: Int, content: ByteReader)] = []
    var resources: [UInt8] = []
    for (number, _, segment) in segments(bytes) {
      if number == 13, segment.starts(with: IPTC.resourceName), resources.count + segment.count <= limit {
        resources += segment.slice(IPTC.resourceName.count, segment.count).copy()
      }
      guard number == 1 else { continue }
      if metadata.exif == nil, EXIF.isMarked(segment), segment.count - 6 <= limit {
        metadata.exif = Data(segment.slice(6, segment.count).copy())
      } else if metadata.xmp == nil, segment.starts(with: xmpName), segment.count <= limit {
        metadata.xmp = Data(segment.slice(xmpName.count, segment.count).copy())
      } else if segment.starts(with: extensionName), pieces.count < pieceLimit {
        let start = extensionName.count
        guard let guid = segment.ascii(at: start, count: 32), let length = segment.bigEndian32(at: start + 32),
          let offset = segment.bigEndian32(at: start + 36)
        else { continue }
        pieces.append((guid, Int(length), Int(offset), segment.slice(start + 40, segment.count)))
      }
    }
    metadata.iptc = Data(resources).reading { IPTC.fields(ofResources: $0).map { Data($0.copy()) } }
    // The first packet names the extension that belongs to it.
    guard let xmp = metadata.xmp,
      let guid = Set(pieces.map(\.guid)).first(where: { xmp.firstRange(of: Data($0.utf8)) != nil })
    else { return metadata }
    var whole = Data()
    let own = pieces.filter { $0.guid == guid }.sorted { $0.offset < $1.offset }
    for piece in own {
      guard piece.offset == whole.count, whole.count + piece.content.count <= limit else { return metadata }
      whole.append(contentsOf: piece.content.copy())
    }
    if whole.count == own.first?.length { metadata.extendedXMP = whole }
    return metadata
  }

  /// The segments APP0 to APP15: their numbers, the places of their bodies, and their bodies.
  static func segments(_ bytes: ByteReader) -> some Sequence<(number: Int, offset: Int, body: ByteReader)> {
    sequence(state: 2) { offset -> (number: Int, offset: Int, body: ByteReader)? in
      while true {
        while let byte = bytes.byte(at: offset), byte != 0xFF { offset += 1 }
        while bytes.byte(at: offset) == 0xFF { offset += 1 }
        guard let marker = bytes.byte(at: offset) else { return nil }
        offset += 1
        if marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) { continue }
        guard marker != 0xD9, marker != 0xDA, let length = bytes.bigEndian16(at: offset), length >= 2 else {
          return nil
        }
        let body = bytes.slice(offset + 2, Int(length) - 2)
        offset += Int(length)
        if (0xE0...0xEF).contains(marker), offset <= bytes.count {
          return (Int(marker) - 0xE0, offset - body.count, body)
        }
      }
    }
  }
}
