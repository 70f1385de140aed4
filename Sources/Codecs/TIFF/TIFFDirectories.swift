import VitrineImaging

/// The directories of a TIFF file, one for each page (TIFF 6.0, section 2; BigTIFF).
struct TIFFDirectories {
  struct Page {
    /// The offset of its directory.
    var offset: Int
    /// True if the file ends before data that the directory refers to, other than the pixels.
    var isCut: Bool
  }

  /// The pages, without smaller copies and masks; the first directory if there is nothing else.
  private(set) var pages: [Page] = []

  /// Follows the chain from the first directory, up to one page more than `limit`.
  init(_ file: ByteReader, limit: Int) throws(ImageError) {
    let layout = Layout(file)
    guard var offset = layout.integer(at: layout.isBig ? 8 : 4, size: layout.offsetSize) else {
      throw Self.truncated
    }
    var seen: Set<Int> = []
    var entries = 0
    var first: Page?
    while offset != 0, pages.count <= limit {
      // A chain that leads back has no more pages.
      guard seen.insert(offset).inserted else { break }
      // Every directory takes time to read, including directories that are not pages.
      guard seen.count <= limit + 1000 else {
        throw ImageError(
          .overLimit,
          format: .tiff,
          limit: .frameCount,
          "tiff of over \(seen.count) directories, over the limit of \(limit)",
        )
      }
      guard let directory = Directory(at: offset, layout) else {
        // Damage after a readable page does not affect that page.
        guard let first else { throw Self.truncated }
        if pages.isEmpty { pages = [first] }
        return
      }
      // Directories may overlap, so a small file may have thousands of 65,535 entries.
      entries += directory.entryCount
      guard entries <= 1_000_000 else {
        throw ImageError(.overLimit, format: .tiff, limit: .frameCount, "over the limit of 1000000 directory entries")
      }
      let page = Page(offset: offset, isCut: directory.isCut)
      first = first ?? page
      if directory.isPage { pages.append(page) }
      offset = directory.next
    }
    guard let first else { throw ImageError(.corrupt, format: .tiff, "corrupt: the file has no directory") }
    if pages.isEmpty { pages = [first] }
  }

  private static var truncated: ImageError {
    ImageError(.truncated, format: .tiff, "truncated: the file ends inside its directory")
  }

  /// The sizes of numbers, and their byte order.
  private struct Layout {
    let file: ByteReader
    let isLittle: Bool
    let isBig: Bool

    init(_ file: ByteReader) {
      self.file = file
      isLittle = file.starts(with: "II")
      isBig = (isLittle ? file.littleEndian16(at: 2) : file.bigEndian16(at: 2)) == 43
    }

    var offsetSize: Int { isBig ? 8 : 4 }
    var countSize: Int { isBig ? 8 : 2 }
    var entrySize: Int { isBig ? 20 : 12 }

    /// Returns `nil` past the end of the file, and for numbers that exceed any file's length.
    func integer(at offset: Int, size: Int) -> Int? {
      var value = 0
      for index in 0..<size {
        guard let byte = file.byte(at: offset + (isLittle ? size - 1 - index : index)) else { return nil }
        guard value < 1 << 48 else { return nil }
        value = value << 8 | Int(byte)
      }
      return value
    }
  }

  private struct Directory {
    let next: Int
    let entryCount: Int
    /// True unless it is a smaller copy of another page or a mask.
    let isPage: Bool
    /// True if a value outside its entry lies past the end of the file.
    let isCut: Bool

    init?(at offset: Int, _ layout: Layout) {
      guard offset < layout.file.count, let count = layout.integer(at: offset, size: layout.countSize), count <= 65_535
      else { return nil }
      let entries = offset + layout.countSize
      let end = entries + count * layout.entrySize
      guard end <= layout.file.count else { return nil }
      // Some writers end the file right behind the last directory.
      next = layout.integer(at: end, size: layout.offsetSize) ?? 0
      entryCount = count
      // Entries are in the order of their tags, and NewSubfileType has the smallest.
      let kind =
        layout.integer(at: entries, size: 2) == 254
        ? layout.integer(at: entries + 4 + layout.offsetSize, size: 4) ?? 0 : 0
      isPage = kind & 0b101 == 0
      isCut = (0..<count).contains { Self.isCut(entries + $0 * layout.entrySize, layout) }
    }

    private static func isCut(_ entry: Int, _ layout: Layout) -> Bool {
      // The baseline's tags up to YCbCr's tags, and the profile; other tags change no pixel.
      guard let tag = layout.integer(at: entry, size: 2), (254...532).contains(tag) || tag == 34_675,
        let type = layout.integer(at: entry + 2, size: 2), sizes.indices.contains(type),
        let count = layout.integer(at: entry + 4, size: layout.offsetSize)
      else { return false }
      let (length, overflow) = count.multipliedReportingOverflow(by: sizes[type])
      guard overflow || length > layout.offsetSize else { return false }
      let value = layout.integer(at: entry + 4 + layout.offsetSize, size: layout.offsetSize) ?? 0
      return overflow || length > layout.file.count || value > layout.file.count - length
    }

    /// The size in bytes of a value of each type.
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
  }
}
