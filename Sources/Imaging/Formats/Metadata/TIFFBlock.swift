/// The directories of a TIFF file, as in EXIF: classic, either byte order.
///
/// Each directory is read only through a reference to it, and only once, so that none can lead back to itself.
struct TIFFBlock {
  /// The maximum length of a text.
  ///
  /// No camera writes more, and files come from strangers.
  static let textLimit = 64 * 1024

  let bytes: ByteReader
  private let isLittleEndian: Bool
  let firstDirectory: Int

  init?(_ bytes: ByteReader) {
    let isLittleEndian = bytes.starts(with: "II")
    guard isLittleEndian || bytes.starts(with: "MM") else { return nil }
    let start = TIFFBlock(bytes, isLittleEndian, 0)
    guard start.read16(2) == 42, let first = start.read32(4) else { return nil }
    self = TIFFBlock(bytes, isLittleEndian, Int(first))
  }

  /// Reads a file of TIFF's structure, whatever number it has in the place of 42, as raw files have others.
  init?(raw bytes: ByteReader) {
    let isLittleEndian = bytes.starts(with: "II")
    guard isLittleEndian || bytes.starts(with: "MM"),
      let first = TIFFBlock(bytes, isLittleEndian, 0).read32(4)
    else { return nil }
    self = TIFFBlock(bytes, isLittleEndian, Int(first))
  }

  /// Returns the block of a part, in which places are counted from its start, with a directory there.
  func part(from offset: Int, directory: Int) -> TIFFBlock {
    TIFFBlock(bytes.slice(offset, bytes.count), isLittleEndian, directory)
  }

  /// Finds the directory in the notes of Apple's cameras; returns `nil` for notes of other makers.
  init?(appleNotes bytes: ByteReader) {
    guard bytes.starts(with: "Apple iOS\0"), bytes.matches("MM", at: 12) else { return nil }
    self = TIFFBlock(bytes, false, 14)
  }

  private init(_ bytes: ByteReader, _ isLittleEndian: Bool, _ firstDirectory: Int) {
    (self.bytes, self.isLittleEndian, self.firstDirectory) = (bytes, isLittleEndian, firstDirectory)
  }

  /// Returns the directory that follows `directory` in the file: in EXIF the thumbnail's.
  func directory(after directory: Int) -> Int? {
    guard let count = read16(directory), let next = read32(directory + 2 + Int(count) * 12), next != 0 else {
      return nil
    }
    return Int(next)
  }

  /// The bytes of a value of each type; 13 is the place of a directory.
  private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4]

  func forEachEntry(of directory: Int, _ body: (_ tag: Int, _ value: Value) -> Void) {
    for index in 0..<Int(read16(directory) ?? 0) {
      let entry = directory + 2 + index * 12
      guard let tag = read16(entry), let type = read16(entry + 2), let count = read32(entry + 4),
        let offset = read32(entry + 8)
      else { return }
      guard let size = Self.sizes[Int(type)] else { continue }
      // At most 8 times 4 billion, which fits into an Int.
      let length = Int(count) * size
      let place = length <= 4 ? entry + 8 : Int(offset)
      let content = bytes.slice(place, length)
      body(Int(tag), Value(block: TIFFBlock(content, isLittleEndian, 0), place: place, type: Int(type), size: size))
    }
  }

  private func read16(_ offset: Int) -> UInt16? {
    isLittleEndian ? bytes.littleEndian16(at: offset) : bytes.bigEndian16(at: offset)
  }

  func read32(_ offset: Int) -> UInt32? {
    isLittleEndian ? bytes.littleEndian32(at: offset) : bytes.bigEndian32(at: offset)
  }

  /// The value of an entry, clamped to the data.
  struct Value {
    /// The bytes, as a block without directories.
    let block: TIFFBlock
    /// The place of the bytes in the block that the entry is of.
    let place: Int
    fileprivate let type: Int
    fileprivate let size: Int

    /// The type, and the bytes of whole numbers with the lowest byte first.
    var content: (type: Int, count: Int, bytes: [UInt8]) {
      let (count, isRational) = (block.bytes.count / size, type == 5 || type == 10)
      let bytes = block.bytes.slice(0, count * size).copy()
      let step = isRational ? 4 : size
      guard !block.isLittleEndian, step > 1 else { return (type, count, bytes) }
      return (type, count, stride(from: 0, to: bytes.count, by: step).flatMap { bytes[$0..<$0 + step].reversed() })
    }

    /// The text up to the first zero, without surrounding blanks; `nil` if nothing is left.
    var text: String? {
      guard type == 2 || type == 7 else { return nil }
      let bytes = block.bytes.slice(0, TIFFBlock.textLimit).copy().prefix { $0 != 0 }
      let text = String(decoding: bytes, as: UTF8.self)
      let start = text.drop { $0.isWhitespace }
      let end = start.lastIndex { !$0.isWhitespace }
      return end.map { String(start[...$0]) }
    }

    /// The first number, if it is a whole one.
    var integer: Int? { number.flatMap { Int(exactly: $0) } }

    /// The first number.
    var number: Double? { number(at: 0) }

    /// The first whole numbers, at most so many.
    func integers(atMost count: Int) -> [Int] { numbers(atMost: count).compactMap { Int(exactly: $0) } }

    /// The first numbers, at most so many, or those before the first invalid one.
    func numbers(atMost count: Int) -> [Double] {
      Array((0..<count).lazy.map { number(at: $0) }.prefix { $0 != nil }.compactMap { $0 })
    }

    private func number(at index: Int) -> Double? {
      let offset = index * size
      let first = block.read32(offset)
      switch type {
      case 1: return block.bytes.byte(at: offset).map { Double($0) }
      case 3: return block.read16(offset).map { Double($0) }
      case 4, 13: return first.map { Double($0) }
      case 5:
        guard let first, let second = block.read32(offset + 4), second != 0 else { return nil }
        return Double(first) / Double(second)
      case 9: return first.map { Double(Int32(bitPattern: $0)) }
      case 10:
        guard let first, let second = block.read32(offset + 4), second != 0 else { return nil }
        return Double(Int32(bitPattern: first)) / Double(Int32(bitPattern: second))
      default: return nil
      }
    }
  }
}

extension EXIF {
  /// Returns the thumbnail's file, which is a JPEG in the second directory.
  static func thumbnail(_ tiff: ByteReader) -> ByteReader? {
    guard let block = TIFFBlock(tiff), let directory = block.directory(after: block.firstDirectory) else { return nil }
    var (offset, length): (Int?, Int?)
    block.forEachEntry(of: directory) { tag, value in
      if tag == 0x0201 { offset = value.integer }
      if tag == 0x0202 { length = value.integer }
    }
    guard let offset, let length, length > 0 else { return nil }
    let file = tiff.slice(offset, length)
    return file.starts(with: [0xFF, 0xD8, 0xFF]) ? file : nil
  }
}
