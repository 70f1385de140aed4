import VitrineRuntime

/// The folder of a ``DiskCache``: its file names, and reading verified records.
struct DiskFolder: Sendable {
  static let formatMagic: UInt64 = 0x434E_5254_4956_0A0D
  static let formatVersion: UInt32 = 1

  let path: String
  let files: any DiskFileSystem

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func open(_ name: String, isWritable: Bool = false) throws(FileError) -> any DiskFile {
    try files.open(path(name), isWritable: isWritable, isCreated: false)
  }

  /// Opens a file for writing, and creates it if there is none.
  func create(_ name: String) throws(FileError) -> any DiskFile {
    try files.open(path(name), isWritable: true, isCreated: true)
  }

  func remove(_ name: String) throws(FileError) { try files.remove(path(name)) }

  func rename(_ name: String, to newName: String) throws(FileError) {
    try files.rename(path(name), to: path(newName))
  }

  func segmentName(_ id: UInt32, lane: Int) -> String {
    "\(lane == 0 ? "o" : "f")\(id.hexDigits()).segment"
  }

  func bodyName(_ sequence: UInt64) -> String {
    sequence.hexDigits() + Self.bodySuffix
  }

  static func segment(named name: String) -> (id: UInt32, lane: Int)? {
    guard name.hasSuffix(".segment"), name.utf8.count == 17, let first = name.first, first == "o" || first == "f" else {
      return nil
    }
    // No cache reaches half of the numbers, so counting on from any of them cannot overflow.
    guard let id = UInt32(name.dropFirst().dropLast(8), radix: 16), (1...UInt32.max / 2).contains(id) else {
      return nil
    }
    return (id, first == "o" ? 0 : 1)
  }

  static let bodySuffix = ".body"
  static let partialSuffix = ".partial"
  static let journalSuffix = ".progress"

  func partialName(_ number: UInt64) -> String { number.hexDigits() + Self.partialSuffix }
  func journalName(_ number: UInt64) -> String { number.hexDigits() + Self.journalSuffix }
  /// The name of a body that is useless unless its writer finishes it.
  func temporaryBodyName(_ number: UInt64) -> String { "\(bodyName(number)).tmp" }

  static func number(in name: String, _ suffix: String) -> UInt64? {
    guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return nil }
    return UInt64(name.dropLast(suffix.utf8.count), radix: 16).flatMap { $0 <= RecordHeader.sequenceLimit ? $0 : nil }
  }

  // MARK: - The format file

  enum Format {
    case missing, damaged, unknown(UInt32), known(SipHash.Secret)
  }

  /// Throws if a file is there and cannot be opened, for example because too many files are open.
  func readFormat() throws(FileError) -> Format {
    guard let file = try existing("format", isWritable: false) else { return .missing }
    guard let bytes = try? file.bytes(64, at: 0) else { return .damaged }
    var reader = HeadReader(bytes)
    // The first condition leaves the magic, the version, the secret and the checksum.
    guard bytes.count >= 32, unsafe reader.withRest({ unsafe $0.hasChecksum(ofFirst: 28) }),
      reader.uint64() == Self.formatMagic, let version = reader.uint32(), let low = reader.uint64(),
      let high = reader.uint64()
    else { return .damaged }
    return version == Self.formatVersion ? .known(SipHash.Secret(low: low, high: high)) : .unknown(version)
  }

  /// Opens a file, or returns `nil` if it is missing or not a regular file.
  func existing(_ name: String, isWritable: Bool) throws(FileError) -> (any DiskFile)? {
    do throws(FileError) {
      return try open(name, isWritable: isWritable)
    } catch  where error.code == ENOENT || error.isAboutKind {
      return nil
    }
  }

  func writeFormat(_ secret: SipHash.Secret) throws(FileError) {
    var writer = HeadWriter()
    writer.append(Self.formatMagic)
    writer.append(Self.formatVersion)
    writer.append(secret.low)
    writer.append(secret.high)
    writer.append(writer.checksum(from: 0))
    try replace("format", writer.bytes)
  }

  /// Replaces a file as a whole, or leaves it as it was.
  func replace(_ name: String, _ bytes: [UInt8]) throws(FileError) {
    let temporary = "\(name).tmp"
    do throws(FileError) {
      let file = try create(temporary)
      try file.truncate(to: 0)
      try file.write(bytes, at: 0)
      try file.sync()
      try rename(temporary, to: name)
    } catch {
      try? remove(temporary)
      throw error
    }
  }
}
