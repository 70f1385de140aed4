import VitrineRuntime

/// The items of a picture in an ISO base media file (ISO/IEC 14496-12, 8.11): pictures, and their descriptions.
package struct ISOMediaItems {
  struct Reference {
    let type: String
    /// The place of the type in the file.
    let place: Int
    let from: Int
    let to: [Int]
  }

  private let file: ByteReader
  /// The primary picture, and the place of its number in the file, which has two or four bytes.
  package let primary: (id: Int, place: Int, isLong: Bool)
  /// The types of the items, by number.
  private(set) var types: [Int: String] = [:]
  /// The places of the items' flags in the file, of which the lowest hides an item.
  private var flags: [Int: Int] = [:]
  private(set) var references: [Reference] = []
  private let locations: ISOMediaBox?
  private let data: ISOMediaBox?
  private let properties: ISOMediaBox?

  /// More than any file has.
  private static let itemLimit = 4_096
  private static let descriptionLimit = 16

  /// Reads the boxes; returns `nil` if there are none, or no primary picture.
  ///
  /// Complexity: O(boxes).
  package init?(_ file: ByteReader) {
    self.file = file
    guard let meta = ISOMediaBox.all(in: file).first(where: { $0.type == "meta" }) else { return nil }
    // Behind the version and flags.
    func box(_ type: String) -> ISOMediaBox? {
      ISOMediaBox.all(in: file, from: meta.start + 4, to: meta.end).first { $0.type == type }
    }
    guard let primary = box("pitm"), let version = file.byte(at: primary.start),
      let id = Self.number(file, primary.start + 4, bytes: version == 0 ? 2 : 4)
    else { return nil }
    self.primary = (id, primary.start + 4, version != 0)
    (locations, data, properties) = (box("iloc"), box("idat"), box("iprp"))
    if let list = box("iinf"), let version = file.byte(at: list.start) {
      let entries = ISOMediaBox.all(in: file, from: list.start + (version == 0 ? 6 : 8), to: list.end)
      for entry in entries.prefix(Self.itemLimit) {
        guard entry.type == "infe", let version = file.byte(at: entry.start), version >= 2,
          let id = Self.number(file, entry.start + 4, bytes: version == 2 ? 2 : 4),
          let type = file.ascii(at: entry.start + (version == 2 ? 8 : 10), count: 4)
        else { continue }
        (types[id], flags[id]) = (type, entry.start + 3)
      }
    }
    if let list = box("iref"), let version = file.byte(at: list.start) {
      let size = version == 0 ? 2 : 4
      for entry in ISOMediaBox.all(in: file, from: list.start + 4, to: list.end).prefix(Self.itemLimit) {
        guard let from = Self.number(file, entry.start, bytes: size),
          let count = Self.number(file, entry.start + size, bytes: 2)
        else { continue }
        let targets = (0..<min(count, Self.itemLimit)).compactMap {
          Self.number(file, entry.start + size + 2 + $0 * size, bytes: size)
        }
        references.append(Reference(type: entry.type, place: entry.start - 4, from: from, to: targets))
      }
    }
  }

  /// Returns the content of an item that lies in one piece (ISO/IEC 14496-12, 8.11.3).
  func content(of id: Int) -> ByteReader? {
    guard let box = locations, let version = file.byte(at: box.start), version <= 2,
      let sizes = file.bigEndian16(at: box.start + 4)
    else { return nil }
    let (offsetSize, lengthSize) = (Int(sizes >> 12), Int(sizes >> 8 & 15))
    let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version == 0 ? 0 : Int(sizes & 15))
    let idSize = version < 2 ? 2 : 4
    var place = box.start + 6
    func next(_ bytes: Int) -> Int? {
      defer { place += bytes }
      return bytes == 0 ? 0 : place + bytes <= box.end ? Self.number(file, place, bytes: bytes) : nil
    }
    guard let count = next(idSize) else { return nil }
    for _ in 0..<min(count, Self.itemLimit) {
      guard let item = next(idSize), let method = version == 0 ? 0 : next(2), next(2) != nil, let base = next(baseSize),
        let extents = next(2)
      else { return nil }
      guard item == id else {
        place += extents * (indexSize + offsetSize + lengthSize)
        continue
      }
      guard extents == 1, next(indexSize) != nil, let offset = next(offsetSize), let length = next(lengthSize) else {
        return nil
      }
      let start = base.addingReportingOverflow(offset)
      guard !start.overflow else { return nil }
      switch method & 15 {
      case 0: return file.slice(start.partialValue, length)
      case 1: return data.flatMap { file.slice($0.start, $0.end - $0.start).slice(start.partialValue, length) }
      default: return nil
      }
    }
    return nil
  }

  /// Returns the contents of the items of a type that describe one of some pictures, and that picture.
  ///
  /// A few files have two; more than 16 are left out.
  func contents(_ type: String, describing ids: Set<Int>) -> [(picture: Int, content: ByteReader)] {
    let descriptions = references.lazy.filter { $0.type == "cdsc" && types[$0.from] == type }
    return descriptions.prefix(Self.descriptionLimit).compactMap { reference in
      guard let picture = reference.to.first(where: ids.contains) else { return nil }
      return content(of: reference.from).map { (picture, $0) }
    }
  }

  /// Returns the contents of the properties `colr` of an item.
  func colors(of id: Int) -> [ByteReader] { properties(of: id).filter { $0.type == "colr" }.map(\.content) }

  /// Returns the orientation of a coded item or a grid of them; `nil` if the item is cropped, too (`clap`).
  ///
  /// It is `nil` for items that are derived otherwise: the items below may have transforms of their own.
  /// The properties `irot` and `imir` apply in the order in which the file lists them (ISO/IEC 23008-12, 6.5.10, 6.5.12).
  package func orientation(of id: Int) -> Orientation? {
    guard let type = types[id], ["hvc1", "grid"].contains(type) else { return nil }
    var (turns, isMirrored) = (0, false)
    for (type, content) in properties(of: id) {
      let value = Int(content.byte(at: 0) ?? 0)
      switch type {
      // A rotation after a mirror is the opposite one before it.
      case "irot": turns += isMirrored ? -(value & 3) : value & 3
      case "imir":
        // Top to bottom is half a turn, then left to right.
        if value & 1 == 0 { turns += 2 }
        isMirrored.toggle()
      case "clap": return nil
      default: break
      }
    }
    return Orientation(turns: turns, isMirrored: isMirrored)
  }

  /// Returns the types and contents of an item's properties, in order (ISO/IEC 23008-12, 9.3).
  private func properties(of id: Int) -> [(type: String, content: ByteReader)] {
    guard let properties else { return [] }
    let boxes = ISOMediaBox.all(in: file, from: properties.start, to: properties.end)
    guard let list = boxes.first(where: { $0.type == "ipco" }) else { return [] }
    let all = Array(ISOMediaBox.all(in: file, from: list.start, to: list.end).prefix(Self.itemLimit))
    return boxes.filter { $0.type == "ipma" }.prefix(Self.descriptionLimit).flatMap { box in
      propertyNumbers(of: id, in: box).compactMap { number in
        guard all.indices.contains(number - 1) else { return nil }
        let property = all[number - 1]
        return (property.type, file.slice(property.start, property.end - property.start))
      }
    }
  }

  /// Returns the numbers of an item's properties, from 1 on.
  private func propertyNumbers(of id: Int, in box: ISOMediaBox) -> [Int] {
    guard let head = file.bigEndian32(at: box.start), let count = file.bigEndian32(at: box.start + 4) else { return [] }
    let (idSize, isWide) = (head >> 24 == 0 ? 2 : 4, head & 1 != 0)
    var place = box.start + 8
    for _ in 0..<min(Int(count), Self.itemLimit) {
      guard place + idSize < box.end, let item = Self.number(file, place, bytes: idSize),
        let entries = file.byte(at: place + idSize)
      else { return [] }
      place += idSize + 1
      guard item != id else {
        // The highest bit says that a reader must know the property.
        return (0..<Int(entries)).compactMap { index in
          isWide
            ? file.bigEndian16(at: place + 2 * index).map { Int($0 & 0x7FFF) }
            : file.byte(at: place + index).map { Int($0 & 0x7F) }
        }
      }
      place += Int(entries) * (isWide ? 2 : 1)
    }
    return []
  }

  /// Returns the file with another primary picture, which is shown, and without references of a type from it.
  func file(withPrimary id: Int, removing type: String? = nil) -> Data {
    var bytes = Array(file.copy())
    let size = primary.isLong ? 4 : 2
    for index in 0..<size { bytes[primary.place + index] = UInt8(truncatingIfNeeded: id >> (8 * (size - 1 - index))) }
    if let place = flags[id] { bytes[place] &= 0xFE }
    for reference in references where reference.from == id && reference.type == type {
      bytes[reference.place] = UInt8(ascii: "-")
    }
    return Data(bytes)
  }

  private static func number(_ file: ByteReader, _ place: Int, bytes: Int) -> Int? {
    switch bytes {
    case 2: return file.bigEndian16(at: place).map { Int($0) }
    case 4: return file.bigEndian32(at: place).map { Int($0) }
    case 8:
      guard let high = file.bigEndian32(at: place), high < 1 << 30 else { return nil }
      return file.bigEndian32(at: place + 4).map { Int(high) << 32 | Int($0) }
    default: return nil
    }
  }
}
