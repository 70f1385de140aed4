import VitrineRuntime

extension CacheKey {
  /// A part of a key.
  package enum Part: Hashable, Sendable {
    /// No value, which differs from an empty text.
    case none
    /// A text, compared as UTF-8 bytes: canonically equivalent texts differ.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
    /// A whole number.
    case integer(Int64)
    /// A number, compared by its bit pattern.
    case number(Double)
    /// A Boolean value.
    case flag(Bool)
    /// A key within a key.
    case key(CacheKey)
  }

  /// A builder that joins the parts of a key.
  public struct Builder {
    private(set) var bytes: [UInt8] = []

    /// Creates a builder that allocates `count` bytes once.
    ///
    /// The key may have more bytes.
    ///
    /// To make a key and its prefix in one go, remember ``count`` where the prefix ends, and take the longer key's
    /// prefix when it is needed.
    ///
    /// ```swift
    /// var builder = CacheKey.Builder(reserving: 200)
    /// builder.append(url)
    /// let sourceEnd = builder.count
    /// builder.append(size)
    /// let image = builder.key()
    /// let source = image.prefix(sourceEnd)
    /// ```
    package init(reserving count: Int) {
      bytes.reserveCapacity(count)
    }

    init(after first: [UInt8]) {
      // The capacity fits a URL or a list of processors, so that the bytes hardly ever move.
      bytes.reserveCapacity(first.count + 96)
      bytes += first
    }

    /// The number of bytes so far.
    package var count: Int { bytes.count }

    /// Creates the key of all parts so far, which adopts the bytes without a copy.
    ///
    /// Complexity: O(count), to hash them once.
    package consuming func key() -> CacheKey { CacheKey(bytes: bytes) }

    /// Appends raw bytes.
    ///
    /// The caller ensures that no other list of parts encodes to the same bytes.
    package mutating func append(raw some: [UInt8]) { bytes.append(contentsOf: some) }

    /// Appends a part.
    package mutating func append(_ part: Part) {
      switch part {
      case .none: bytes.append(0)
      case .text(let text): append(tag: 1, text.utf8)
      case .bytes(let some): append(tag: 2, some)
      case .integer(let integer): append(tag: 3, word: UInt64(bitPattern: integer))
      case .number(let number): append(tag: 4, word: number.bitPattern)
      case .flag(let flag): append(flag)
      case .key(let key): append(tag: 6, key.bytes)
      }
    }

    /// Appends a text, or no value for `nil`.
    public mutating func append(_ text: String?) {
      if let text { append(tag: 1, text.utf8) } else { bytes.append(0) }
    }

    /// Appends a whole number, or no value for `nil`.
    public mutating func append(_ integer: Int?) {
      if let integer { append(tag: 3, word: UInt64(bitPattern: Int64(integer))) } else { bytes.append(0) }
    }

    /// Appends a number, or no value for `nil`.
    public mutating func append(_ number: Double?) {
      if let number { append(tag: 4, word: number.bitPattern) } else { bytes.append(0) }
    }

    /// Appends a Boolean value.
    public mutating func append(_ flag: Bool) {
      bytes.append(5)
      bytes.append(flag ? 1 : 0)
    }

    /// Appends another key as one part.
    package mutating func append(_ key: CacheKey) {
      append(tag: 6, key.bytes)
    }

    private mutating func append(tag: UInt8, _ some: some Collection<UInt8>) {
      bytes.append(tag)
      var length = some.count
      while length >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
        length >>= 7
      }
      bytes.append(UInt8(length))
      bytes += some
    }

    private mutating func append(tag: UInt8, word: UInt64) {
      bytes.append(tag)
      // `word` outlives the closure, which only reads its bytes.
      unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  /// The parts of the key, or `nil` if it was not created from parts.
  ///
  /// Complexity: O(count).
  package var parts: [Part]? {
    var (parts, reader) = ([Part](), HeadReader(bytes))
    while reader.remaining > 0 {
      guard let part = Self.part(of: &reader) else { return nil }
      parts.append(part)
    }
    return parts
  }

  /// Returns the number of bytes of the first `count` parts, or `nil` if the key has fewer.
  package func end(ofParts count: Int) -> Int? {
    var reader = HeadReader(bytes)
    for _ in 0..<count {
      guard Self.part(of: &reader) != nil else { return nil }
    }
    return reader.offset
  }

  private static func part(of reader: inout HeadReader) -> Part? {
    switch reader.uint8() {
    case 0: return Part.none
    case 1: return slice(of: &reader).map { .text(String(decoding: $0, as: UTF8.self)) }
    case 2: return slice(of: &reader).map { .bytes(Array($0)) }
    case 3: return reader.number(Int64.self).map { .integer($0) }
    case 4: return reader.uint64().map { .number(Double(bitPattern: $0)) }
    case 5: return reader.uint8().flatMap { $0 < 2 ? .flag($0 == 1) : nil }
    case 6: return slice(of: &reader).map { .key(CacheKey(bytes: Array($0))) }
    default: return nil
    }
  }

  /// Reads bytes behind their number, which has seven bits in each byte, the lowest first.
  private static func slice(of reader: inout HeadReader) -> ArraySlice<UInt8>? {
    var length = 0
    var shift = 0
    while shift < 56, let byte = reader.uint8() {
      length |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return reader.slice(length) }
      shift += 7
    }
    return nil
  }

  /// A readable form of the parts, or else of the bytes.
  public var description: String {
    guard let parts else { return String(decoding: bytes, as: UTF8.self) }
    return parts.map { part in
      switch part {
      case .none: "-"
      case .text(let text): text
      case .bytes(let bytes): "\(bytes.count) bytes"
      case .integer(let integer): "\(integer)"
      case .number(let number): "\(number)"
      case .flag(let flag): "\(flag)"
      case .key(let key): "(\(key))"
      }
    }.joined(separator: " ")
  }
}
