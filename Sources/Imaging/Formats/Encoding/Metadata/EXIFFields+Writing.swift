import VitrineRuntime

extension EXIFFields {
  /// Returns a TIFF block of nothing but these fields (CIPA DC-008, version 2.32); `nil` without any.
  ///
  /// A text has the type ASCII and is in UTF-8, as in most files. A number that a block cannot hold is left out.
  func block() -> Data? {
    var (main, exif, gps) = (TIFFDirectory(), TIFFDirectory(), TIFFDirectory())
    main.add(0x010F, text: make)
    main.add(0x0110, text: model)
    main.add(0x0112, short: orientation?.rawValue)
    main.add(0x0131, text: software)
    main.add(0x0132, text: modified?.texts.time)
    main.add(0x013B, text: artist)
    main.add(0x8298, text: copyright)
    exif.add(0x829A, rational: exposureTime)
    exif.add(0x829D, rational: fNumber)
    exif.add(0x8827, short: iso)
    exif.add(0x9003, text: original?.texts.time)
    exif.add(0x9010, text: modified?.texts.offset)
    exif.add(0x9011, text: original?.texts.offset)
    exif.add(0x9209, short: flashFired.map { $0 ? 1 : 0 })
    exif.add(0x920A, rational: focalLength)
    exif.add(0x9290, text: modified?.texts.fraction)
    exif.add(0x9291, text: original?.texts.fraction)
    exif.add(0xA002, short: pixelWidth)
    exif.add(0xA003, short: pixelHeight)
    exif.add(0xA434, text: lensModel)
    gps.add(1, text: latitude.map { $0 < 0 ? "S" : "N" })
    gps.add(2, degrees: latitude)
    gps.add(3, text: longitude.map { $0 < 0 ? "W" : "E" })
    gps.add(4, degrees: longitude)
    gps.add(5, bytes: altitude.map { [$0 < 0 ? 1 : 0] })
    gps.add(6, rational: altitude.map(abs))
    guard !(main.isEmpty && exif.isEmpty && gps.isEmpty) else { return nil }
    exif.add(0x9000, undefined: Array("0232".utf8))
    if !gps.isEmpty { gps.add(0, bytes: [2, 3, 0, 0]) }
    return TIFFDirectory.block(main, exposure: exif, place: gps)
  }

  /// Returns those fields that a policy names.
  func only(_ kinds: Set<MetadataPolicy.Field>) -> EXIFFields {
    var result = EXIFFields()
    if kinds.contains(.copyright) { result.copyright = copyright }
    if kinds.contains(.author) { result.artist = artist }
    if kinds.contains(.captureTime) { result.original = original }
    if kinds.contains(.camera) { (result.make, result.model, result.lensModel) = (make, model, lensModel) }
    if kinds.contains(.exposure) {
      (result.exposureTime, result.fNumber, result.iso) = (exposureTime, fNumber, iso)
      (result.focalLength, result.flashFired) = (focalLength, flashFired)
    }
    if kinds.contains(.location) {
      (result.latitude, result.longitude, result.altitude) = (latitude, longitude, altitude)
    }
    return result
  }
}

/// A directory to be written, little-endian.
struct TIFFDirectory {
  private var entries: [Int: (type: Int, count: Int, value: [UInt8])] = [:]

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ tag: Int, text: String?) {
    guard let text, !text.isEmpty else { return }
    let value = Array(text.utf8) + [0]
    entries[tag] = (2, value.count, value)
  }

  /// Adds a value whose numbers have the lowest byte first.
  mutating func add(_ tag: Int, _ value: (type: Int, count: Int, bytes: [UInt8])) {
    entries[tag] = (value.type, value.count, value.bytes)
  }

  mutating func add(_ tag: Int, bytes: [UInt8]?) {
    if let bytes { entries[tag] = (1, bytes.count, bytes) }
  }

  mutating func add(_ tag: Int, undefined bytes: [UInt8]) { entries[tag] = (7, bytes.count, bytes) }

  mutating func add(_ tag: Int, long value: Int) { entries[tag] = (4, 1, .little(value, count: 4)) }

  /// Adds a number of 16 bits, or of 32 if it needs them.
  mutating func add(_ tag: Int, short value: Int?) {
    guard let value, value >= 0, value <= 0xFFFF_FFFF else { return }
    if value > 0xFFFF { return add(tag, long: value) }
    entries[tag] = (3, 1, .little(value, count: 2))
  }

  mutating func add(_ tag: Int, rational value: Double?) {
    if let fraction = value.flatMap(Fraction.init) { entries[tag] = (5, 1, fraction.bytes) }
  }

  /// Adds whole degrees, whole minutes, and seconds in millionths: 0.03 mm of the equator.
  mutating func add(_ tag: Int, degrees value: Double?) {
    guard let value, abs(value) <= 180 else { return }
    let all = Int((abs(value) * 3600e6).rounded())
    let parts = [(all / 3_600_000_000, 1), (all / 60_000_000 % 60, 1), (all % 60_000_000, 1_000_000)]
    entries[tag] = (5, 3, parts.flatMap { Fraction($0, $1).bytes })
  }

  /// The length with the values that do not fit into entries.
  var byteCount: Int {
    entries.values.reduce(2 + entries.count * 12 + 4) { $0 + ($1.value.count > 4 ? ($1.value.count + 1) & ~1 : 0) }
  }

  /// Returns the directory and its values, for a place in the block.
  func bytes(at offset: Int) -> [UInt8] {
    var directory: [UInt8] = .little(entries.count, count: 2)
    var values: [UInt8] = []
    for (tag, entry) in entries.sorted(by: { $0.key < $1.key }) {
      directory += .little(tag, count: 2) + .little(entry.type, count: 2) + .little(entry.count, count: 4)
      guard entry.value.count > 4 else {
        directory += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
        continue
      }
      directory += .little(offset + 2 + entries.count * 12 + 4 + values.count, count: 4)
      // Values begin at even places.
      values += entry.value + [UInt8](repeating: 0, count: entry.value.count & 1)
    }
    return directory + [0, 0, 0, 0] + values
  }

  /// Returns a TIFF block of a first directory, and of the directories of exposure and place unless they are empty.
  static func block(_ main: TIFFDirectory, exposure: TIFFDirectory, place: TIFFDirectory) -> Data {
    var main = main
    let others = [(0x8769, exposure), (0x8825, place)].filter { !$0.1.isEmpty }
    // The size of the first directory is known without the places of the others.
    for (tag, _) in others { main.add(tag, long: 0) }
    var start = 8 + main.byteCount
    for (tag, directory) in others {
      main.add(tag, long: start)
      start += directory.byteCount
    }
    var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
    for directory in [main] + others.map(\.1) { bytes += directory.bytes(at: bytes.count) }
    return Data(bytes)
  }
}

/// A rational number of EXIF: two numbers of 32 bits.
private struct Fraction {
  let numerator: Int
  let denominator: Int

  init(_ numerator: Int, _ denominator: Int) { (self.numerator, self.denominator) = (numerator, denominator) }

  /// Makes the simplest fraction that is read as the same number, or the nearest one; `nil` for a number that is
  /// negative or too large.
  ///
  /// The convergents of the number's continued fraction are tried: 0.004 becomes 1/250.
  init?(_ value: Double) {
    guard value >= 0, value <= 0xFFFF_FFFF else { return nil }
    var (before, best) = ((1, 0), (Int(value), 1))
    var rest = value - value.rounded(.down)
    while Double(best.0) / Double(best.1) != value, rest > 1e-10 {
      rest = 1 / rest
      let whole = Int(rest)
      rest -= Double(whole)
      let next = (whole * best.0 + before.0, whole * best.1 + before.1)
      guard next.0 <= 0xFFFF_FFFF, next.1 <= 0xFFFF_FFFF else { break }
      (before, best) = (best, next)
    }
    (numerator, denominator) = best
  }

  var bytes: [UInt8] { .little(numerator, count: 4) + .little(denominator, count: 4) }
}
