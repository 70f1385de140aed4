import VitrineImaging
import VitrineRuntime

/// Raw files made by hand, each with the structure that the documentation of its format has, around JPEG files.
///
/// There are no samples of a sensor in them, but the entries that announce them.
enum RawFiles {
  /// A value of an entry of a directory.
  enum Value {
    case short(Int)
    case longs([Int])
    case text(String)
    case bytes([UInt8])
    /// The place of a blob, and its length.
    case place(String)
    case length(String)
    /// The places of directories, by their numbers.
    case directories([Int])
  }

  struct Directory {
    var entries: [(tag: Int, value: Value)]
    /// The number of the next directory.
    var next: Int?

    init(_ entries: [(Int, Value)], next: Int? = nil) { (self.entries, self.next) = (entries, next) }
  }

  /// A file of TIFF's structure: a header of eight bytes or more, whose last four of the first eight are set here, directories, and
  /// blobs.
  static func tiff(_ header: [UInt8], _ directories: [Directory], _ blobs: [String: [UInt8]]) -> Data {
    let isLittle = header.starts(with: [UInt8].text("II"))
    func two(_ value: Int) -> [UInt8] { isLittle ? .little16(value) : .big16(value) }
    func four(_ value: Int) -> [UInt8] { isLittle ? .little32(value) : .big32(value) }
    var places: [Int] = []
    var end = header.count
    for directory in directories {
      places.append(end)
      end += 6 + 12 * directory.entries.count
    }
    var tail: [UInt8] = []
    var blobPlaces: [String: Int] = [:]
    for (name, bytes) in blobs.sorted(by: { $0.key < $1.key }) {
      blobPlaces[name] = end + tail.count
      tail += bytes
    }
    var body: [UInt8] = []
    for directory in directories {
      body += two(directory.entries.count)
      for (tag, value) in directory.entries.sorted(by: { $0.tag < $1.tag }) {
        let (type, count, bytes): (Int, Int, [UInt8]) =
          switch value {
          case .short(let number): (3, 1, two(number) + [0, 0])
          case .longs(let numbers): (4, numbers.count, numbers.flatMap(four))
          case .text(let text): (2, text.utf8.count + 1, .text(text) + [0])
          case .bytes(let bytes): (7, bytes.count, bytes)
          case .place(let name): (4, 1, four(blobPlaces[name] ?? 0))
          case .length(let name): (4, 1, four(blobs[name]?.count ?? 0))
          case .directories(let numbers): (4, numbers.count, numbers.flatMap { four(places[$0]) })
          }
        body += two(tag) + two(type) + four(count)
        if bytes.count <= 4 {
          body += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
        } else {
          body += four(end + tail.count)
          tail += bytes
        }
      }
      body += four(directory.next.map { places[$0] } ?? 0)
    }
    return Data(header.prefix(4) + four(places.first ?? 0) + header.dropFirst(8) + body + tail)
  }

  private static let little: [UInt8] = .text("II") + [42, 0, 0, 0, 0, 0]
  private static let big: [UInt8] = .text("MM") + [0, 42, 0, 0, 0, 0]

  /// The entries of a camera.
  private static func camera(_ make: String, _ orientation: Orientation) -> [(Int, Value)] {
    [(0x010F, .text(make)), (0x0110, .text("Model X")), (0x0112, .short(orientation.rawValue))]
  }

  private static func jpeg(_ name: String) -> [(Int, Value)] { [(0x0201, .place(name)), (0x0202, .length(name))] }
  private static func strip(_ name: String) -> [(Int, Value)] { [(0x0111, .place(name)), (0x0117, .length(name))] }
  /// The entry of samples of a colour filter array.
  private static let samples: [(Int, Value)] = [(0x0106, .short(32803)), (0x0103, .short(1))]

  /// A file of each format with a small and a large preview.
  static func all(_ preview: Data, _ thumbnail: Data, _ orientation: Orientation) -> [(name: String, file: Data)] {
    let blobs = ["large": [UInt8](preview), "small": [UInt8](thumbnail)]
    return [
      ("DNG", dng(blobs, orientation)), ("CR2", cr2(blobs, orientation)), ("NEF", nef(blobs, orientation)),
      ("ARW", arw(blobs, orientation)), ("ORF", orf(blobs, orientation)), ("PEF", pef(blobs, orientation)),
      ("RW2", rw2(blobs, orientation)), ("CR3", cr3(blobs, orientation)),
    ]
  }

  /// DNG 1.6: IFD0 is a thumbnail, the samples and the preview are in sub-directories.
  static func dng(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    tiff(
      little,
      [
        Directory(
          camera("Maker", orientation) + strip("small")
            + [(0xC612, .bytes([1, 4, 0, 0])), (0x014A, .directories([1, 2])), (0x8769, .directories([3]))]
        ),
        Directory(samples), Directory([(0x0103, .short(7)), (0x0106, .short(6))] + strip("large")), exposure,
      ],
      blobs,
    )
  }

  private static var exposure: Directory {
    Directory([(0x8827, .short(400)), (0x9003, .text("2024:05:06 07:08:09"))])
  }

  /// CR2: a strip of IFD0 is the preview, IFD1 has the thumbnail, and a strip of IFD3 has lossless JPEG.
  static func cr2(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    var blobs = blobs
    // The start of a lossless JPEG of more pixels (T.81, annex H).
    blobs["samples"] =
      [0xFF, 0xD8, 0xFF, 0xC3, 0, 11, 8] + .big16(9000) + .big16(9000) + [1, 1, 0x11, 0, 0xFF, 0xDA, 0, 2]
    return tiff(
      .text("II") + [42, 0, 0, 0, 0, 0] + .text("CR") + [2, 0, 0, 0, 0, 0],
      [
        Directory(
          camera("Canon", orientation) + [(0x0103, .short(6))] + strip("large") + [(0x8769, .directories([3]))],
          next: 1,
        ),
        Directory(jpeg("small"), next: 2), Directory([(0x0103, .short(6))] + strip("samples")), exposure,
      ],
      blobs,
    )
  }

  /// NEF: IFD0 is a thumbnail without compression, the first sub-directory the preview.
  static func nef(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    tiff(
      big,
      [
        Directory(
          camera("NIKON CORPORATION", orientation)
            + [
              (0x0111, .longs([8])), (0x0117, .longs([4])), (0x014A, .directories([1, 2])),
              (0x8769, .directories([3])),
            ]
        ),
        Directory(jpeg("large")), Directory(samples + strip("small")), exposure,
      ],
      blobs,
    )
  }

  /// ARW: IFD0 has the preview, IFD1 the thumbnail, a sub-directory the samples.
  static func arw(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    tiff(
      little,
      [
        Directory(
          camera("SONY", orientation) + jpeg("large") + [(0x014A, .directories([2])), (0x8769, .directories([3]))],
          next: 1,
        ),
        Directory(jpeg("small")), Directory(samples), exposure,
      ],
      blobs,
    )
  }

  /// PEF: IFD0 has the samples, IFD1 the thumbnail, IFD2 the preview.
  static func pef(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    tiff(
      big,
      [
        Directory(camera("PENTAX", orientation) + samples + [(0x8769, .directories([3]))], next: 1),
        Directory(jpeg("small"), next: 2), Directory(jpeg("large")), exposure,
      ],
      blobs,
    )
  }

  /// RW2: an entry of IFD0 is the preview itself.
  static func rw2(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    tiff(
      .text("IIU") + [0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 16),
      [
        Directory(
          camera("Panasonic", orientation) + [(0x002E, .bytes(blobs["large"] ?? [])), (0x8769, .directories([1]))]
        ),
        exposure,
      ],
      [:],
    )
  }

  /// ORF: the notes of the maker have directories of their own, with places counted from the notes.
  static func orf(_ blobs: [String: [UInt8]], _ orientation: Orientation, name: String = "OLYMPUS") -> Data {
    let preview = blobs["large"] ?? []
    let head: [UInt8] = .text(name) + (name == "OLYMPUS" ? [0] : [0, 0, 0]) + .text("II") + [3, 0]
    // One directory with the place of the other one, and that one.
    let settings = head.count + 2 + 12 + 4
    let start = settings + 2 + 24 + 4
    let notes: [UInt8] =
      head + .little16(1) + .little16(0x2020) + .little16(13) + .little32(1) + .little32(settings) + .little32(0)
      + .little16(2) + .little16(0x0101) + .little16(4) + .little32(1) + .little32(start)
      + .little16(0x0102) + .little16(4) + .little32(1) + .little32(preview.count) + .little32(0) + preview
    return tiff(
      .text("IIRO") + [0, 0, 0, 0],
      [
        Directory(camera("OLYMPUS", orientation) + [(0x8769, .directories([2]))], next: 1), Directory(jpeg("small")),
        Directory([(0x8827, .short(400)), (0x9003, .text("2024:05:06 07:08:09")), (0x927C, .bytes(notes))]),
      ],
      ["small": blobs["small"] ?? []],
    )
  }

  /// CR3: metadata and a thumbnail in `moov`, a preview in a box of its own, and the largest as the first track's sample.
  static func cr3(_ blobs: [String: [UInt8]], _ orientation: Orientation) -> Data {
    func box(_ type: String, _ body: [UInt8]) -> [UInt8] { .big32(body.count + 8) + .text(type) + body }
    let (large, small) = (blobs["large"] ?? [], blobs["small"] ?? [])
    let main = [UInt8](tiff(little, [Directory(camera("Canon", orientation))], [:]))
    let thumbnail: [UInt8] = [1, 0, 0, 0] + .big16(160) + .big16(120) + .big32(small.count) + [0, 1, 0, 0] + small
    let metadata: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    let exif = [UInt8](tiff(little, [exposure], [:]))
    let own = box("uuid", metadata + box("CMT1", main) + box("CMT2", exif) + box("THMB", thumbnail))
    let other: [UInt8] = [
      0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]
    let shown: [UInt8] = [0, 0, 0, 0, 0, 1] + .big16(1620) + .big16(1080) + [0, 1] + .big32(small.count) + small
    let preview = box("uuid", other + [0, 0, 0, 0, 0, 0, 0, 1] + box("PRVW", shown))
    func movie(_ place: Int) -> [UInt8] {
      let sizes = box("stsz", .big32(0) + .big32(0) + .big32(1) + .big32(large.count))
      let places = box("co64", .big32(0) + .big32(1) + .big32(0) + .big32(place))
      return box("moov", own + box("trak", box("mdia", box("minf", box("stbl", sizes + places)))))
    }
    let start = box("ftyp", .text("crx ") + .big32(1) + .text("crx isom"))
    let place = start.count + movie(0).count + preview.count + 8
    return Data(start + movie(place) + preview + box("mdat", large))
  }

  /// RAF: the place and the length of the preview follow the names of the camera.
  static func raf(_ preview: Data) -> Data {
    let head: [UInt8] = .text("FUJIFILMCCD-RAW 0201FF123456X-Camera") + [UInt8](repeating: 0, count: 48)
    return Data(head.prefix(84) + .big32(92) + .big32(preview.count)) + preview
  }
}
