public import VitrineRuntime

/// A file that the stub of ImageIO reads and writes as HEIC, AVIF or TIFF: pictures in PNG, in boxes or behind a mark.
///
/// It has the beginning by which the format is recognised, and nothing else of it.
public struct StubFile: Sendable {
  /// The type identifiers of these files.
  public static let types = ["public.heic", "public.avif", "public.tiff"]

  /// The type identifier.
  public var type: String
  /// The pictures, each a PNG.
  public var pictures: [Data]
  /// The duration of each, in seconds; empty for a file that is not a sequence.
  public var delays: [Double] = []
  /// The index of the main picture.
  public var primary = 0
  /// How many times brighter than white the pictures are in high dynamic range; 1 for none.
  public var headroom = 1

  /// Makes a file.
  public init(_ type: String, _ pictures: [Data]) {
    (self.type, self.pictures) = (type, pictures)
  }

  /// The file's bytes.
  public var data: Data {
    var body = Data("stub".utf8)
    func add(_ number: Int) { body.append(contentsOf: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }) }
    add(pictures.count)
    add(primary)
    add(headroom)
    add(delays.count)
    for delay in delays { add(Int((delay * 1000).rounded())) }
    for picture in pictures {
      add(picture.count)
      body.append(picture)
    }
    guard type != "public.tiff" else { return Data([0x49, 0x49, 42, 0]) + body }
    let brand = type == "public.heic" ? "heic" : "avif"
    return Self.box("ftyp", Data(brand.utf8) + Data(count: 4)) + Self.box("meta", Data(count: 4))
      + Self.box("mdat", body)
  }

  private static func box(_ name: String, _ body: Data) -> Data {
    let length = body.count + 8
    return Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }) + Data(name.utf8) + body
  }

  /// Reads a file; returns `nil` for any other.
  public init?(_ data: Data) {
    let start: Int
    if data.starts(with: [0x49, 0x49, 42, 0]) {
      (type, start) = ("public.tiff", 4)
    } else {
      guard data.count > 44, let box = data.range(of: Data("mdat".utf8)) else { return nil }
      type = data.dropFirst(8).prefix(4) == Data("heic".utf8) ? "public.heic" : "public.avif"
      start = box.upperBound - data.startIndex
    }
    var rest = data.dropFirst(start)
    guard rest.prefix(4) == Data("stub".utf8) else { return nil }
    rest = rest.dropFirst(4)
    func number() -> Int? {
      guard rest.count >= 4 else { return nil }
      defer { rest = rest.dropFirst(4) }
      return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let count = number(), let primary = number(), let headroom = number(), let delayCount = number(),
      count < 100, delayCount < 100
    else { return nil }
    (self.primary, self.headroom) = (primary, headroom)
    delays = (0..<delayCount).compactMap { _ in number().map { Double($0) / 1000 } }
    pictures = []
    for _ in 0..<count {
      guard let length = number(), length <= rest.count else { return nil }
      pictures.append(Data(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
  }
}
