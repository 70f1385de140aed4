import VitrineRuntime

/// Changes to the boxes of an AVIF sequence (ISO/IEC 14496-12) that libavif has written.
///
/// libavif writes the time of day, so that equal pictures would give different files; that becomes zero. Versions
/// before 1.0 do not write how often a sequence plays; an edit list is put into each track for that. All offsets into
/// the file then move on.
struct AVIFSequence {
  /// The error of boxes that are not as libavif writes them.
  private enum Failure: Error { case unknown }

  /// The length of a box `edts` with one edit, in bytes.
  private static let editByteCount = 44

  /// The number of times that the sequence plays, 0 for endless; `nil` if the file says it.
  private let loopCount: Int?
  /// The number of bytes by which all media data moves.
  private var shift = 0

  /// Changes a file.
  ///
  /// Complexity: O(bytes).
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - loopCount: The number of times that it plays, 0 for endless; `nil` if the file says it.
  /// - Returns: The changed file; `nil` if its structure is not known.
  static func file(_ file: Data, loopCount: Int?) -> Data? {
    // The media come last, and are not changed.
    guard let media = offset(of: "mdat", in: file) else { return nil }
    let head = Array(file.prefix(media))
    var sequence = AVIFSequence(loopCount: loopCount)
    do throws(Failure) {
      if loopCount != nil { sequence.shift = try trackCount(head) * editByteCount }
      let changed = try sequence.boxes(head[...])
      guard changed.count == head.count + sequence.shift else { return nil }
      return Data(changed) + file.dropFirst(media)
    } catch {
      return nil
    }
  }

  private init(loopCount: Int?) { self.loopCount = loopCount }

  /// Returns the boxes of a container, changed.
  private func boxes(_ bytes: ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    var result: [UInt8] = []
    var duration: UInt64?
    for (type, content) in try Self.boxes(bytes) {
      var body: [UInt8]
      switch type {
      case "moov", "trak", "mdia", "minf", "stbl": body = try boxes(content)
      case "meta":
        guard content.count >= 4 else { throw .unknown }
        body = Array(content.prefix(4)) + (try boxes(content.dropFirst(4)))
      case "mvhd", "tkhd", "mdhd":
        let once: UInt64
        (body, once) = try timed(content, type)
        if type == "tkhd" { duration = once }
      case "stco": body = try chunkOffsets(content)
      case "iloc": body = try itemOffsets(content)
      default: body = Array(content)
      }
      result += Self.box(type, body)
      if type == "tkhd", let loopCount, let duration { result += Self.edit(duration, loopCount) }
    }
    return result
  }

  /// Returns a box of times without the time of day, and with the duration of all loops; and the duration of one.
  private func timed(_ content: ArraySlice<UInt8>, _ type: String) throws(Failure) -> ([UInt8], UInt64) {
    var body = Array(content)
    let offset = type == "tkhd" ? 28 : 24
    // libavif writes version 1, whose times have 64 bits.
    guard body.first == 1, body.count >= offset + 8 else { throw .unknown }
    body.replaceSubrange(4..<20, with: [UInt8](repeating: 0, count: 16))
    let once = Self.number(body[offset..<offset + 8])
    if let loopCount, type != "mdhd" {
      let (whole, isOver) = once.multipliedReportingOverflow(by: UInt64(loopCount))
      body.replaceSubrange(offset..<offset + 8, with: Self.bytes(loopCount == 0 || isOver ? .max : whole, count: 8))
    }
    return (body, once)
  }

  private func chunkOffsets(_ content: ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    var body = Array(content)
    guard body.count >= 8 else { throw .unknown }
    for offset in stride(from: 8, to: body.count, by: 4) { try move(&body, offset) }
    return body
  }

  private func itemOffsets(_ content: ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    var body = Array(content)
    guard shift > 0 else { return body }
    // Version 0, offsets and lengths of four bytes, and no base.
    guard body.count >= 8, body[0] == 0, body[4] == 0x44, body[5] == 0 else { throw .unknown }
    let count = Self.number(body[6..<8])
    var offset = 8
    for _ in 0..<count {
      guard offset + 6 <= body.count else { throw .unknown }
      let extents = Self.number(body[offset + 4..<offset + 6])
      offset += 6
      for _ in 0..<extents {
        try move(&body, offset)
        offset += 8
      }
    }
    return body
  }

  /// Moves an offset of four bytes.
  private func move(_ body: inout [UInt8], _ offset: Int) throws(Failure) {
    guard offset + 4 <= body.count else { throw .unknown }
    let moved = Self.number(body[offset..<offset + 4]) + UInt64(shift)
    guard moved <= UInt32.max else { throw .unknown }
    body.replaceSubrange(offset..<offset + 4, with: Self.bytes(moved, count: 4))
  }

  /// An edit list of one edit, which is repeated to the end of the track unless it plays once (section 8.6.6).
  private static func edit(_ duration: UInt64, _ loopCount: Int) -> [UInt8] {
    let flags: UInt64 = loopCount == 1 ? 0 : 1
    let header = bytes(1 << 24 | flags, count: 4) + bytes(1, count: 4)
    return box(
      "edts",
      box("elst", header + bytes(duration, count: 8) + bytes(0, count: 8) + bytes(1 << 16, count: 4)),
    )
  }

  // MARK: Boxes

  private static func boxes(
    _ bytes: ArraySlice<UInt8>
  ) throws(Failure) -> [(type: String, content: ArraySlice<UInt8>)] {
    var boxes: [(String, ArraySlice<UInt8>)] = []
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 8 else { throw .unknown }
      let size = Int(number(rest.prefix(4)))
      guard size >= 8, size <= rest.count else { throw .unknown }
      let content = rest.prefix(size).dropFirst(8)
      boxes.append((String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), content))
      rest = rest.dropFirst(size)
    }
    return boxes
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    bytes(UInt64(content.count + 8), count: 4) + Array(type.utf8) + content
  }

  private static func trackCount(_ head: [UInt8]) throws(Failure) -> Int {
    guard let movie = try boxes(head[...]).first(where: { $0.type == "moov" }) else { throw .unknown }
    return try boxes(movie.content).count { $0.type == "trak" }
  }

  private static func offset(of type: String, in file: Data) -> Int? {
    var offset = 0
    while file.count - offset >= 8 {
      let header = Array(file.dropFirst(offset).prefix(8))
      if header[4...].elementsEqual(type.utf8) { return offset }
      let size = Int(number(header[..<4]))
      guard size >= 8 else { return nil }
      offset += size
    }
    return nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  private static func bytes(_ number: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64((count - 1 - $0) * 8)) }
  }
}
