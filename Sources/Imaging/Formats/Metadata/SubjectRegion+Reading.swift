import VitrineRuntime

// The subjects that a file names: EXIF's SubjectArea, and the regions of XMP.
extension SubjectRegion {
  /// The maximum number of regions of a file that are read.
  private static let limit = 64
  /// The maximum length of a packet that is read, in bytes.
  private static let packetLimit = 1 << 20

  /// Returns the subjects of a file, in the upright picture: the faces and animals that XMP names, or else the area of
  /// EXIF.
  ///
  /// Damaged metadata has none. Complexity: O(bytes of headers), and O(bytes of XMP) if that has regions.
  package static func all(in file: ByteReader, _ info: ImageInfo) -> [SubjectRegion] {
    reader(of: info.format)?(file).regions(info) ?? []
  }

  /// Returns whether files of a format can name subjects.
  static func areNamed(by format: ImageFormat) -> Bool { reader(of: format) != nil }

  private static func reader(of format: ImageFormat) -> ((ByteReader) -> Found)? {
    switch format {
    case .jpeg: Found.init(jpeg:)
    case .webp: Found.init(webp:)
    case .png: Found.init(png:)
    case .heic, .avif: Found.init(media:)
    default: nil
    }
  }

  /// The metadata of a file.
  private struct Found {
    var exif: ByteReader?
    var xmp: ByteReader?

    init(jpeg file: ByteReader) {
      for case (1, _, let segment) in JPEGMetadata.segments(file) {
        if EXIF.isMarked(segment) {
          exif = exif ?? segment.slice(6, segment.count)
        } else if segment.starts(with: JPEGMetadata.xmpName) {
          xmp = xmp ?? segment.slice(JPEGMetadata.xmpName.count, segment.count)
        }
      }
    }

    init(webp file: ByteReader) {
      WebPHeader.forEachChunk(file) { type, body in
        if type == "EXIF" { exif = exif ?? EXIF.block(body) }
        if type == "XMP " { xmp = xmp ?? body }
      }
    }

    init(png file: ByteReader) {
      for chunk in PNGHeader.chunks(file) where chunk.isWhole {
        if chunk.type == PNGHeader.Chunk.eXIf { exif = exif ?? EXIF.block(chunk.body) }
        if chunk.type == PNGHeader.Chunk.iTXt { xmp = xmp ?? PNGHeader.packet(chunk.body) }
      }
    }

    init(media file: ByteReader) {
      guard let items = ISOMediaItems(file) else { return }
      exif = items.contents("Exif", describing: [items.primary.id]).first.flatMap { block in
        // The place of the byte order comes first (ISO/IEC 23008-12, A.2.1).
        block.content.bigEndian32(at: 0).map { EXIF.block(block.content.slice(4 + Int($0), block.content.count)) }
      }
      xmp =
        items.contents("mime", describing: [items.primary.id]).first { XMPRegions.areNamed(in: $0.content) }?.content
    }

    func regions(_ info: ImageInfo) -> [SubjectRegion] {
      let area = exif.flatMap { TIFFBlock($0) }.map { EXIFArea($0) }
      let orientation = area?.orientation(of: info) ?? info.orientation
      if let xmp, XMPRegions.areNamed(in: xmp), xmp.count <= SubjectRegion.packetLimit {
        let regions = XMPRegions.read(Data(xmp.copy()), limit: SubjectRegion.limit).compactMap {
          $0.upright(orientation).clamped
        }
        if !regions.isEmpty { return regions }
      }
      return area?.region(of: info)?.upright(orientation).clamped.map { [$0] } ?? []
    }
  }
}

// MARK: - EXIF

/// The area of the main subject in EXIF (CIPA DC-008, 4.6.6: SubjectArea).
private struct EXIFArea {
  private var orientation: Orientation?
  private var width: Double?
  private var height: Double?
  private var numbers: [Double] = []

  init(_ block: TIFFBlock) {
    var directory: Int?
    block.forEachEntry(of: block.firstDirectory) { tag, value in
      if tag == 0x0112 { orientation = value.integer.flatMap { Orientation(rawValue: $0) } }
      if tag == 0x8769 { directory = value.integer }
    }
    guard let directory else { return }
    block.forEachEntry(of: directory) { tag, value in
      switch tag {
      case 0x9214: numbers = value.numbers(atMost: 4)
      case 0xA002: width = value.number
      case 0xA003: height = value.number
      default: break
      }
    }
  }

  /// Returns the orientation of the stored picture, to which the coordinates refer.
  ///
  /// AVIF and HEIC turn the picture by properties of their own, and keep the camera's orientation in EXIF.
  func orientation(of info: ImageInfo) -> Orientation {
    guard [.heic, .avif].contains(info.format), let orientation, let width, let height, width > 0, height > 0 else {
      return info.orientation
    }
    // A program that has turned the picture may not have corrected EXIF.
    let (across, down) = orientation.swapsAxes ? (height, width) : (width, height)
    return (across > down) == (info.width > info.height) ? orientation : info.orientation
  }

  /// The area in the stored picture: a point has no area, and counts as a tenth of the sides.
  func region(of info: ImageInfo) -> SubjectRegion? {
    let (width, height) = (width ?? Double(info.storedWidth), height ?? Double(info.storedHeight))
    guard width > 0, height > 0, numbers.count >= 2, numbers[0] <= width, numbers[1] <= height else { return nil }
    let (across, down): (Double, Double)
    switch numbers.count {
    case 2: (across, down) = (width / 10, height / 10)
    case 3: (across, down) = (numbers[2], numbers[2])
    default: (across, down) = (numbers[2], numbers[3])
    }
    // Programs that shrink a picture leave the camera's numbers.
    guard across > 0, down > 0, across <= width, down <= height else { return nil }
    return SubjectRegion(
      .subject,
      x: (numbers[0] - across / 2) / width,
      y: (numbers[1] - down / 2) / height,
      width: across / width,
      height: down / height,
    )
  }
}

// MARK: - XMP

/// The regions of the Metadata Working Group (Guidelines for Handling Image Metadata 2.0, 5.9), with coordinates in the
/// stored picture.
private enum XMPRegions {
  /// Returns `true` if a packet has their namespace.
  static func areNamed(in packet: ByteReader) -> Bool {
    packet.firstOffset(of: "metadataworkinggroup.com/schemas/regions/", from: 0) != nil
  }

  private struct Region {
    var type = ""
    var area: [String: String] = [:]
    let depth: Int
  }

  /// Reads the faces and animals of a packet; none if it is no XML in UTF-8.
  static func read(_ packet: Data, limit: Int) -> [SubjectRegion] {
    guard var scanner = XMPScanner(packet) else { return [] }
    var (regions, open): ([Region], Region?) = ([], nil)
    var (size, list): ([String: String], Int?) = ([:], nil)
    var text: (name: String, value: String)?
    while let token = scanner.next() {
      switch token {
      case .open(let tag):
        let depth = scanner.depth
        if tag.name == "mwg-rs:RegionList", !tag.xml.isEmpty { list = depth }
        // A region is an item of the list, with or without a description in it.
        if tag.name == "rdf:li", list != nil, open == nil { open = Region(depth: tag.xml.isEmpty ? depth + 1 : depth) }
        for (name, attribute) in tag.attributes { take(name, scanner.xml.string(attribute.value), &open, &size) }
        if tag.xml.isEmpty, let whole = open, depth < whole.depth { (regions, open) = (regions + [whole], nil) }
        text = tag.xml.isEmpty ? nil : (tag.name, "")
      case .text(let range): text?.value += scanner.xml.string(range)
      case .literal(let range): text?.value += String(decoding: scanner.xml.bytes[range], as: UTF8.self)
      case .close:
        if let text { take(text.name, text.value, &open, &size) }
        text = nil
        if let whole = open, scanner.depth < whole.depth { (regions, open) = (regions + [whole], nil) }
        if let start = list, scanner.depth < start { list = nil }
      }
      if regions.count >= limit { break }
    }
    guard scanner.xml.isWellFormed else { return [] }
    let sides = (number(size["stDim:w"]) ?? 0, number(size["stDim:h"]) ?? 0)
    return regions.compactMap { region(of: $0, sides) }
  }

  /// Keeps an attribute or an element that has one of the wanted names.
  private static func take(_ name: String, _ value: String, _ open: inout Region?, _ size: inout [String: String]) {
    guard value.utf8.count <= 64 else { return }
    if name == "mwg-rs:Type" { open?.type = value }
    if name.hasPrefix("stArea:") { open?.area[name] = value }
    if name.hasPrefix("stDim:"), open == nil { size[name] = value }
  }

  private static func number(_ text: String?) -> Double? { text.flatMap { Double($0.filter { !$0.isWhitespace }) } }

  private static func region(of region: Region, _ sides: (width: Double, height: Double)) -> SubjectRegion? {
    let kinds: [String: SubjectRegion.Kind] = ["Face": .face, "Pet": .pet, "Focus": .subject]
    let area = region.area
    guard let kind = kinds[region.type], let x = number(area["stArea:x"]), let y = number(area["stArea:y"]) else {
      return nil
    }
    // A circle has a diameter, relative to the shorter side.
    let diameter = number(area["stArea:d"]) ?? 0
    let shape = sides.width > 0 && sides.height > 0 ? sides.width / sides.height : 1
    var width = number(area["stArea:w"]) ?? diameter * min(1, 1 / shape)
    var height = number(area["stArea:h"]) ?? diameter * min(1, shape)
    var (left, top) = (x - width / 2, y - height / 2)
    if area["stArea:unit"] == "pixel" {
      guard sides.width > 0, sides.height > 0 else { return nil }
      (left, width, top, height) = (left / sides.width, width / sides.width, top / sides.height, height / sides.height)
    }
    // Of a point, a tenth of the sides.
    if width == 0, height == 0 { (left, top, width, height) = (left - 0.05, top - 0.05, 0.1, 0.1) }
    return SubjectRegion(kind, x: left, y: top, width: width, height: height)
  }
}
