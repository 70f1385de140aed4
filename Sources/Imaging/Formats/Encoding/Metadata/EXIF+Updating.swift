import VitrineRuntime

extension EXIF {
  /// Returns a block that describes an upright image of another size, without the thumbnail of the original.
  ///
  /// All bytes stay where they are: the notes of makers have places of the block in them, in formats that are not
  /// published. Only orientation, size, the references to other images and these images' bytes change. Previews inside
  /// the notes of makers stay, for the same reason.
  ///
  /// Returns `nil` if that cannot be done without harm, because directories and images lie over one another.
  ///
  /// Complexity: O(n log n) for n bytes.
  static func updated(_ block: Data, width: Int, height: Int) -> Data? {
    guard let bytes = TIFFBytes(block), var update = EXIFUpdate(bytes), update.apply(width: width, height: height)
    else {
      return nil
    }
    let result = update.block.bytes
    // No reader may see what the update meant to remove, in whatever way directories lie over one another.
    let isClean = result.reading { [nil, .up].contains(orientation($0)) && thumbnail($0) == nil }
    let fields = EXIFFields(Data(result))
    guard isClean, [nil, .up].contains(fields.orientation), [nil, width].contains(fields.pixelWidth),
      [nil, height].contains(fields.pixelHeight)
    else { return nil }
    return Data(result)
  }
}

/// The changes of a block.
private struct EXIFUpdate {
  private(set) var block: TIFFBytes
  /// The first directory.
  private let main: TIFFBytes.Directory
  /// The directories of exposure, place and interoperability.
  private var others: [TIFFBytes.Directory] = []
  /// The directories of other images.
  private var images: [TIFFBytes.Directory] = []
  /// False if a value has the place of the first directory's link.
  private let hasLink: Bool

  // More than any real file has: what repeats or overlaps must not cost more than reading the block.
  private static let directoryLimit = 32
  private static let stripLimit = 1 << 16

  init?(_ block: TIFFBytes) {
    guard let first = block.read32(4), let main = block.directory(at: first), !main.entries.isEmpty else { return nil }
    (self.block, self.main) = (block, main)
    let link = main.link..<main.link + 4
    hasLink =
      main.isWhole && !main.entries.contains { !$0.isInside && link.contains($0.value?.lowerBound ?? 0) }
    guard findDirectories() else { return nil }
  }

  private mutating func findDirectories() -> Bool {
    var seen: Set<Int> = [main.offset]
    var next = main.entries.filter { $0.tag == Tag.exif || $0.tag == Tag.gps }
    while let entry = next.popLast() {
      for offset in block.integers(entry, atMost: 1) where seen.insert(offset).inserted {
        guard let directory = block.directory(at: offset) else { continue }
        guard seen.count < Self.directoryLimit else { return false }
        others.append(directory)
        next += directory.entries.filter { $0.tag == Tag.interoperability }
      }
    }
    let subdirectories = main.entries.filter { $0.tag == Tag.subdirectories }
    var places = subdirectories.flatMap { block.integers($0, atMost: Self.directoryLimit) }
    if hasLink, let link = block.read32(main.link) { places.append(link) }
    while let offset = places.popLast() {
      guard offset != 0, seen.insert(offset).inserted, let directory = block.directory(at: offset) else { continue }
      guard seen.count < Self.directoryLimit else { return false }
      images.append(directory)
      if directory.isWhole, let link = block.read32(directory.link) { places.append(link) }
    }
    return true
  }

  /// Changes the block; returns `false` if that would do harm.
  mutating func apply(width: Int, height: Int) -> Bool {
    let directories = [0..<8, main.offset..<main.link + (hasLink ? 4 : 0)] + others.map(\.range)
    // Directories that lie over one another cannot be changed one by one.
    let inOrder = directories.sorted { $0.lowerBound < $1.lowerBound }
    guard zip(inOrder, inOrder.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound }) else { return false }

    let all = 0..<block.count
    let kept = main.entries.filter { !Tag.pictures.contains($0.tag) } + others.flatMap(\.entries)
    let used = ByteRanges(directories + kept.compactMap { $0.isInside ? nil : $0.value?.clamped(to: all) })
    guard let thumbnails = pictures(of: images), let own = pictures(of: [main]),
      !thumbnails.contains(where: used.overlap)
    else { return false }
    let leavings = images.flatMap { directory in
      directory.entries.compactMap(\.value) + [directory.offset..<directory.link + (directory.isWhole ? 4 : 0)]
    }.map { $0.clamped(to: all) }
    // Places in the first directory are places of a TIFF file that the block was taken from, or of a thumbnail.
    let cleared = ByteRanges(thumbnails + (own + leavings).filter { !used.overlap($0) })

    for entry in main.entries + others.flatMap(\.entries) { correct(entry, width: width, height: height) }
    guard removePictures() else { return false }
    for range in cleared.ranges { block.clear(range) }
    if let first = cleared.first { block.cut(end(after: max(first, used.end))) }
    return true
  }

  /// Returns the place behind which there is nothing but zeros.
  private func end(after start: Int) -> Int {
    (block.bytes.indices.last { $0 < start || block.bytes[$0] != 0 } ?? 0) + 1
  }

  /// Returns the places of images that directories lead to; `nil` if they are too many.
  private func pictures(of directories: [TIFFBytes.Directory]) -> [Range<Int>]? {
    let pairs = [(Tag.jpeg, Tag.jpegLength), (Tag.strips, Tag.stripLengths), (Tag.tiles, Tag.tileLengths)]
    var result: [Range<Int>] = []
    for directory in directories {
      func numbers(_ tag: Int) -> [Int] {
        directory.entries.filter { $0.tag == tag }.prefix(Self.directoryLimit)
          .flatMap { block.integers($0, atMost: Self.stripLimit + 1) }
      }
      for (places, lengths) in pairs {
        result += zip(numbers(places), numbers(lengths)).map { ($0..<$0 + $1).clamped(to: 0..<block.count) }
        guard result.count <= Self.stripLimit else { return nil }
      }
    }
    return result
  }

  private mutating func correct(_ entry: TIFFBytes.Entry, width: Int, height: Int) {
    switch entry.tag {
    case Tag.orientation: set(entry, Orientation.up.rawValue, isLong: false)
    case Tag.width, Tag.pixelWidth: set(entry, width, isLong: entry.type != 3)
    case Tag.height, Tag.pixelHeight: set(entry, height, isLong: entry.type != 3)
    default: break
    }
  }

  private mutating func set(_ entry: TIFFBytes.Entry, _ value: Int, isLong: Bool) {
    let isLong = isLong || value > 0xFFFF
    block.write16(isLong ? 4 : 3, at: entry.place + 2)
    block.write32(1, at: entry.place + 4)
    block.write32(isLong ? value : 0, at: entry.place + 8)
    if !isLong { block.write16(value, at: entry.place + 8) }
  }

  /// Removes the references to other images from the first directory; returns `false` if a part of it is missing.
  private mutating func removePictures() -> Bool {
    let kept = main.entries.filter { !Tag.pictures.contains($0.tag) }
    if kept.count < main.entries.count {
      guard main.isWhole else { return false }
      for (index, entry) in kept.enumerated() {
        block.move(entry.place..<entry.place + 12, to: main.offset + 2 + index * 12)
      }
      block.write16(kept.count, at: main.offset)
      block.clear(main.offset + 2 + kept.count * 12..<main.link)
      // The link now has its place behind fewer entries, where zeros are.
    }
    if hasLink { block.write32(0, at: main.link) }
    return true
  }
}

/// Tags of EXIF (CIPA DC-008) and TIFF.
private enum Tag {
  static let width = 0x0100
  static let height = 0x0101
  static let strips = 0x0111
  static let orientation = 0x0112
  static let stripLengths = 0x0117
  static let tiles = 0x0144
  static let tileLengths = 0x0145
  static let subdirectories = 0x014A
  static let jpeg = 0x0201
  static let jpegLength = 0x0202
  static let exif = 0x8769
  static let gps = 0x8825
  static let pixelWidth = 0xA002
  static let pixelHeight = 0xA003
  static let interoperability = 0xA005

  /// Those that lead to images.
  static let pictures: Set<Int> = [strips, stripLengths, tiles, tileLengths, subdirectories, jpeg, jpegLength]
}
