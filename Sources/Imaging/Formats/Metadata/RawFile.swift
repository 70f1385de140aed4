import VitrineRuntime

/// The structure of a raw file: a camera's previews, which are JPEG, and its metadata.
///
/// The samples of the sensor are not decoded. DNG, CR2, NEF, ARW, ORF, PEF and RW2 have the directories of TIFF, three of them
/// with a number of their own in place of 42; CR3 has the boxes of ISO/IEC 14496-12, and RAF a header. Every place in the file
/// is checked, and nothing is read twice.
struct RawFile {
  /// The largest preview: a JPEG, which may be cut off by the end of the file.
  let preview: ByteReader
  /// The orientation of the preview; `nil` if the preview says it itself.
  let orientation: Orientation?
  /// The directories of EXIF; `nil` if the preview has them.
  let exif: EXIFDirectories?
  /// The XMP packet; `nil` if there is none.
  let xmp: Data?

  /// The longest side of the smallest preview that is shown, in pixels; smaller ones are thumbnails of 160x120.
  static let leastSide = 320
  /// The maximum number of places at which a preview is looked for.
  private static let placeLimit = 64
  /// The bytes of a preview in which its header is looked for.
  private static let headerLimit = 1 << 20

  /// Returns `true` if a file begins like a raw file.
  ///
  /// DNG, NEF, ARW and PEF begin like a TIFF, and have samples of a sensor.
  static func isSignature(_ bytes: ByteReader) -> Bool {
    if isRAF(bytes) || isCR3(bytes) || hasOwnNumber(bytes) { return true }
    guard let block = TIFFBlock(bytes) else { return false }
    // That of CR2 is known by its beginning, whatever of the rest has arrived.
    return bytes.matches("CR", at: 8) || RawDirectories(block).hasSamples
  }

  private static func isRAF(_ bytes: ByteReader) -> Bool { bytes.starts(with: "FUJIFILMCCD-RAW ") }
  private static func isCR3(_ bytes: ByteReader) -> Bool { bytes.matches("ftypcrx ", at: 4) }

  /// Returns `true` for ORF, which has letters in place of 42, and RW2, which has 85.
  private static func hasOwnNumber(_ bytes: ByteReader) -> Bool {
    bytes.starts(with: "IIRO") || bytes.starts(with: "IIRS") || bytes.starts(with: "MMOR")
      || bytes.starts(with: "IIU\0")
  }

  /// Finds the largest preview.
  ///
  /// - Throws: ``ImageError``: `.unsupported` if there is none that is large enough, `.truncated` if it is beyond the end.
  init(_ bytes: ByteReader) throws(ImageError) {
    var places: [Range<Int>] = []
    if Self.isRAF(bytes) {
      if let place = Self.place(bytes.bigEndian32(at: 84), bytes.bigEndian32(at: 88)) { places.append(place) }
      (orientation, exif, xmp) = (nil, nil, nil)
    } else if Self.isCR3(bytes) {
      let boxes = RawBoxes(bytes)
      (places, exif, xmp) = (boxes.previews, boxes.exif, nil)
      orientation = boxes.orientation
    } else if let block = TIFFBlock(raw: bytes) {
      let directories = RawDirectories(block)
      (places, orientation, xmp) = (directories.previews, directories.orientation, directories.xmp)
      exif = EXIFDirectories(block)
    } else {
      (orientation, exif, xmp) = (nil, nil, nil)
    }
    preview = try Self.largest(of: places, in: bytes)
  }

  private static func place(_ start: UInt32?, _ length: UInt32?) -> Range<Int>? {
    guard let start, let length, length > 0 else { return nil }
    return Int(start)..<Int(start) + Int(length)
  }

  private static func largest(of places: [Range<Int>], in bytes: ByteReader) throws(ImageError) -> ByteReader {
    var best: (file: ByteReader, width: Int, height: Int)?
    var isCut = false
    for place in places.prefix(placeLimit) {
      guard place.lowerBound < bytes.count else {
        isCut = true
        continue
      }
      let file = bytes.slice(place.lowerBound, place.count)
      guard file.starts(with: [0xFF, 0xD8, 0xFF]),
        let header = try? JPEGHeader(file.slice(0, headerLimit), metadataLimit: 0), header.isPreview
      else {
        if place.upperBound > bytes.count { isCut = true }
        continue
      }
      if header.width * header.height > (best.map { $0.width * $0.height } ?? 0) {
        best = (file, header.width, header.height)
      }
    }
    if let best, max(best.width, best.height) >= leastSide { return best.file }
    guard !isCut else {
      throw ImageError(.truncated, format: .raw, "truncated: the raw file ends before its preview")
    }
    let lack =
      best.map { "the only preview in the raw file has \($0.width)x\($0.height) pixels" }
      ?? "the raw file has no JPEG preview"
    throw ImageError(.unsupported, format: .raw, "unsupported: \(lack), and its samples are not decoded")
  }
}

extension JPEGHeader {
  /// True for a picture that can be shown, and not samples of a sensor, which raw files store as lossless JPEG.
  fileprivate var isPreview: Bool {
    (0xC0...0xC2).contains(frameMarker) && precision == 8 && (components == 1 || components == 3) && width > 0
      && height > 0
  }
}

/// The directories of a raw file of TIFF's structure.
private struct RawDirectories {
  /// The places of possible previews.
  private(set) var previews: [Range<Int>] = []
  private(set) var orientation: Orientation?
  private(set) var xmp: Data?
  /// True if a directory is of samples of a sensor, or if the file says that it is a DNG.
  private(set) var hasSamples = false

  private enum Tag {
    static let jpegInRW2 = 0x002E
    static let photometric = 0x0106
    static let strips = 0x0111
    static let orientation = 0x0112
    static let stripLengths = 0x0117
    static let subdirectories = 0x014A
    static let jpeg = 0x0201
    static let jpegLength = 0x0202
    static let xmp = 0x02BC
    static let exif = 0x8769
    static let makerNotes = 0x927C
    static let versionOfDNG = 0xC612
  }

  /// Those of a colour filter array, and of linear samples.
  private static let samples = [32803, 34892]
  /// The maximum number of directories that are read.
  private static let limit = 24
  private static let xmpLimit = 1 << 20

  init(_ block: TIFFBlock) {
    var seen: Set<Int> = []
    var next = [block.firstDirectory]
    while let directory = next.popLast(), seen.count < Self.limit {
      guard seen.insert(directory).inserted else { continue }
      let isFirst = seen.count == 1
      let own = read(block, directory, isFirst: isFirst)
      next += own.subdirectories.filter { $0 > 0 }
      if let following = block.directory(after: directory) { next.append(following) }
      if isFirst, let exif = own.exif { readNotes(block, exif) }
    }
  }

  /// Reads a directory, and returns the places of others in it.
  private mutating func read(
    _ block: TIFFBlock,
    _ directory: Int,
    isFirst: Bool,
  ) -> (subdirectories: [Int], exif: Int?) {
    var (jpeg, strip): ((start: Int?, length: Int?), (start: Int?, length: Int?)) = ((nil, nil), (nil, nil))
    var (subdirectories, exif, isOfSamples): ([Int], Int?, Bool) = ([], nil, false)
    block.forEachEntry(of: directory) { tag, value in
      switch tag {
      case Tag.jpegInRW2 where isFirst: previews.append(value.place..<value.place + value.block.bytes.count)
      case Tag.photometric: isOfSamples = value.integer.map(Self.samples.contains) ?? false
      case Tag.strips: strip.start = value.integers(atMost: 2).onlyOne
      case Tag.stripLengths: strip.length = value.integers(atMost: 2).onlyOne
      case Tag.orientation where isFirst: orientation = value.integer.flatMap { Orientation(rawValue: $0) }
      case Tag.subdirectories: subdirectories = value.integers(atMost: Self.limit)
      case Tag.jpeg: jpeg.start = value.integer
      case Tag.jpegLength: jpeg.length = value.integer
      case Tag.xmp where isFirst && value.block.bytes.count <= Self.xmpLimit: xmp = Data(value.block.bytes.copy())
      case Tag.exif where isFirst: exif = value.integer
      case Tag.versionOfDNG where isFirst: hasSamples = true
      default: break
      }
    }
    if isOfSamples { hasSamples = true }
    // Strips of samples may be JPEG of a kind, too.
    for place in isOfSamples ? [jpeg] : [jpeg, strip] {
      if let start = place.start, let length = place.length, start > 0, length > 0 {
        previews.append(start..<start + length)
      }
    }
    return (subdirectories, exif)
  }

  /// Finds the preview in the notes of Olympus, whose places are counted from the notes, unless they are old.
  private mutating func readNotes(_ block: TIFFBlock, _ exif: Int) {
    var notes: (place: Int, bytes: ByteReader)?
    block.forEachEntry(of: exif) { tag, value in
      if tag == Tag.makerNotes { notes = (value.place, value.block.bytes) }
    }
    guard let notes else { return }
    let (base, directory): (Int, Int)
    if notes.bytes.starts(with: "OLYMPUS\0") {
      (base, directory) = (notes.place, 12)
    } else if notes.bytes.starts(with: "OM SYSTEM\0") {
      (base, directory) = (notes.place, 16)
    } else if notes.bytes.starts(with: "OLYMP\0") {
      (base, directory) = (0, notes.place + 8)
    } else {
      return
    }
    let own = block.part(from: base, directory: directory)
    var settings: Int?
    own.forEachEntry(of: directory) { tag, value in
      // The directory itself, or its place.
      if tag == 0x2020 { settings = value.block.bytes.count > 4 ? value.place : value.integer }
    }
    guard let settings else { return }
    var preview: (start: Int?, length: Int?)
    own.forEachEntry(of: settings) { tag, value in
      if tag == 0x0101 { preview.start = value.integer }
      if tag == 0x0102 { preview.length = value.integer }
    }
    if let start = preview.start, let length = preview.length, start > 0, length > 0 {
      previews.append(base + start..<base + start + length)
    }
  }
}

extension [Int] {
  fileprivate var onlyOne: Int? { count == 1 ? first : nil }
}

/// The boxes of a CR3: metadata in blocks of TIFF, and previews.
private struct RawBoxes {
  private(set) var previews: [Range<Int>] = []
  private(set) var exif = EXIFDirectories()
  private(set) var orientation: Orientation?

  /// The boxes of Canon's metadata, and of the preview.
  private static let metadata: [UInt8] = [
    0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
  ]
  private static let preview: [UInt8] = [
    0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
  ]
  /// The maximum number of boxes that are read in another one.
  private static let limit = 64

  private let bytes: ByteReader

  init(_ bytes: ByteReader) {
    self.bytes = bytes
    for box in boxes(0..<bytes.count) {
      if box.type == "moov" { readMovie(box) }
      // Eight bytes follow the identifier.
      if box.type == "uuid", isNamed(box, Self.preview) {
        for inner in boxes(box.start + 24..<box.end) where inner.type == "PRVW" {
          if let length = bytes.bigEndian32(at: inner.start + 12) { add(inner.start + 16, Int(length)) }
        }
      }
    }
  }

  private func boxes(_ range: Range<Int>) -> [ISOMediaBox] {
    Array(ISOMediaBox.all(in: bytes, from: range.lowerBound, to: range.upperBound).prefix(Self.limit))
  }

  private func boxes(in box: ISOMediaBox) -> [ISOMediaBox] { box.start < box.end ? boxes(box.start..<box.end) : [] }

  private func isNamed(_ box: ISOMediaBox, _ name: [UInt8]) -> Bool {
    box.end - box.start > 24 && bytes.slice(box.start, 16).starts(with: name)
  }

  private mutating func add(_ start: Int, _ length: Int) { if length > 0 { previews.append(start..<start + length) } }

  private mutating func readMovie(_ movie: ISOMediaBox) {
    for box in boxes(in: movie) {
      if box.type == "uuid", isNamed(box, Self.metadata) { readMetadata(box) }
      if box.type == "trak" { readTrack(box) }
    }
  }

  private mutating func readMetadata(_ box: ISOMediaBox) {
    var blocks: [String: TIFFBlock] = [:]
    for inner in boxes(box.start + 16..<box.end) {
      switch inner.type {
      case "CMT1", "CMT2", "CMT4":
        let part = bytes.slice(inner.start, inner.end - inner.start)
        blocks[inner.type] = TIFFBlock(part)
        if inner.type == "CMT1" { orientation = EXIF.orientation(part) }
      // Version, width and height are before the length.
      case "THMB": if let length = bytes.bigEndian32(at: inner.start + 8) { add(inner.start + 16, Int(length)) }
      default: break
      }
    }
    exif = EXIFDirectories(main: blocks["CMT1"], exposure: blocks["CMT2"], place: blocks["CMT4"])
  }

  /// Finds the first sample of a track; the first track's is a JPEG of the full size.
  private mutating func readTrack(_ track: ISOMediaBox) {
    var box = track
    for type in ["mdia", "minf", "stbl"] {
      guard let inner = boxes(in: box).first(where: { $0.type == type }) else { return }
      box = inner
    }
    var (start, length): (Int?, Int?)
    for table in boxes(in: box) {
      switch table.type {
      case "stsz":
        let size = bytes.bigEndian32(at: table.start + 4)
        length = (size == 0 ? bytes.bigEndian32(at: table.start + 12) : size).map(Int.init)
      case "stco": start = bytes.bigEndian32(at: table.start + 8).map(Int.init)
      case "co64":
        guard let high = bytes.bigEndian32(at: table.start + 8), high < 1 << 30,
          let low = bytes.bigEndian32(at: table.start + 12)
        else { continue }
        start = Int(high) << 32 | Int(low)
      default: break
      }
    }
    if let start, let length { add(start, length) }
  }
}
