import VitrineImaging

/// The directories of a TIFF file, one for each page (TIFF 6.0, section 2; BigTIFF).
struct TIFFDirectories {
  struct Page {
    /// The offset of its directory.
    var offset: Int
    /// True if the file ends before data that the directory refers to, other than the pixels.
    var isCut: Bool
    /// The offsets of the directories that call themselves smaller copies of the page, as in a pyramid.
    var copies: [Int] = []
  }

  /// The maximum number of copies of a page; a pyramid of 65,536 pixels has ten.
  private static let copyLimit = 16

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
      let page = Page(offset: offset, isCut: directory.isCut, copies: directory.copies)
      first = first ?? page
      if directory.isPage {
        pages.append(page)
      } else if directory.isCopy, let last = pages.indices.last, pages[last].copies.count < Self.copyLimit {
        pages[last].copies.append(offset)
      }
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
    /// The bits of NewSubfileType: 1 for a smaller copy of another page, 4 for a mask.
    private let kind: Int
    /// The offsets of its subdirectories (TIFF Technical Note 1), most of which are smaller copies.
    let copies: [Int]
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
      kind =
        layout.integer(at: entries, size: 2) == 254
        ? layout.integer(at: entries + 4 + layout.offsetSize, size: 4) ?? 0 : 0
      copies = Self.offsets(count, entries, layout)
      isCut = (0..<count).contains { Self.isCut(entries + $0 * layout.entrySize, layout) }
    }

    var isPage: Bool { kind & 0b101 == 0 }
    var isCopy: Bool { kind & 0b101 == 1 }

    /// Returns the offsets in the entry SubIFDs, 330.
    private static func offsets(_ count: Int, _ entries: Int, _ layout: Layout) -> [Int] {
      let size = layout.offsetSize
      guard
        let entry = (0..<count).lazy.map({ entries + $0 * layout.entrySize })
          .first(where: { layout.integer(at: $0, size: 2) == 330 }),
        let type = layout.integer(at: entry + 2, size: 2), let width = [4: 4, 13: 4, 16: 8, 18: 8][type],
        let number = layout.integer(at: entry + 4, size: size), number > 0,
        let values = number * width <= size ? entry + 4 + size : layout.integer(at: entry + 4 + size, size: size)
      else { return [] }
      return (0..<min(number, copyLimit)).compactMap { layout.integer(at: values + $0 * width, size: width) }
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
