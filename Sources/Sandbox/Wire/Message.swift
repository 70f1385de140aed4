package import VitrineImaging
package import VitrineRuntime

/// A message that breaks the rules of the wire: the process at the other end has been taken over, or is another
/// program.
package struct Malformed: Error, Equatable {
  /// The field that is missing, impossible or left over.
  package let field: String

  package init(field: String) { self.field = field }
}

/// The fields of one message between a program and its worker, written and read in the same order by the same code.
///
/// Neither end trusts the other: what is missing, out of its range or left over is an error. Numbers have eight bytes,
/// least significant first.
package struct Message: Sendable {
  /// The maximum number of bytes.
  package static let limit = 4096
  /// The maximum number of bytes of a text, such as the detail of an error.
  static let textLimit = 1000

  package private(set) var bytes: [UInt8]
  private var offset = 0
  /// True while fields are written.
  let isWriting: Bool

  /// Begins a message.
  package init() {
    (bytes, isWriting) = ([], true)
    bytes.reserveCapacity(512)
  }

  /// Begins to read a message.
  package init(reading bytes: [UInt8]) {
    (self.bytes, isWriting) = (bytes, false)
  }

  /// Writes a number, or reads one that is in `range`.
  package mutating func code(
    _ number: inout Int,
    _ field: String,
    in range: ClosedRange<Int> = .min ... .max,
  ) throws(Malformed) {
    if isWriting {
      unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
      return
    }
    guard bytes.count - offset >= 8 else { throw Malformed(field: field) }
    let value = (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
    offset += 8
    guard range.contains(value) else { throw Malformed(field: field) }
    number = value
  }

  /// Writes a number, or reads a finite one in `range`.
  package mutating func code(
    _ number: inout Double,
    _ field: String,
    in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude,
  ) throws(Malformed) {
    var bits = Int(bitPattern: UInt(number.bitPattern))
    try code(&bits, field)
    let value = Double(bitPattern: UInt64(UInt(bitPattern: bits)))
    guard isWriting || range.contains(value) else { throw Malformed(field: field) }
    number = value
  }

  package mutating func code(_ flag: inout Bool, _ field: String) throws(Malformed) {
    var number = flag ? 1 : 0
    try code(&number, field, in: 0...1)
    flag = number == 1
  }

  /// Writes or reads one of the cases, by its position.
  package mutating func code<Value: CaseIterable & Equatable>(
    _ value: inout Value,
    _ field: String,
  ) throws(Malformed) {
    let cases = Array(Value.allCases)
    var index = cases.firstIndex(of: value) ?? 0
    try code(&index, field, in: 0...cases.count - 1)
    value = cases[index]
  }

  /// Writes a text, shortened to ``textLimit``, or reads one, without its control characters.
  package mutating func code(_ text: inout String, _ field: String) throws(Malformed) {
    var content = isWriting ? Array(text.utf8.prefix(Self.textLimit)) : []
    var count = content.count
    try code(&count, field, in: 0...Self.textLimit)
    if isWriting {
      bytes += content
      return
    }
    guard bytes.count - offset >= count else { throw Malformed(field: field) }
    content = Array(bytes[offset..<offset + count])
    offset += count
    // A terminal or a log would obey them.
    let scalars = String(decoding: content, as: UTF8.self).unicodeScalars.map { scalar in
      let isControl = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
      return isControl ? "\u{FFFD}" : Character(scalar)
    }
    text = String(scalars)
  }

  /// Writes or reads whether there is a value, and then the value; `initial` is what reading begins with.
  package mutating func code<Value>(
    _ value: inout Value?,
    _ field: String,
    from initial: @autoclosure () -> Value,
    _ body: (inout Message, inout Value) throws(Malformed) -> Void,
  ) throws(Malformed) {
    var isThere = value != nil
    try code(&isThere, field)
    guard isThere else {
      value = nil
      return
    }
    var content = value ?? initial()
    try body(&self, &content)
    value = content
  }

  /// Checks that nothing is left to read.
  package func end() throws(Malformed) {
    guard isWriting || offset == bytes.count else { throw Malformed(field: "length") }
  }
}

/// A part of a shared mapping.
package struct SharedRange: Hashable, Sendable {
  package var offset = 0
  package var count = 0

  package init(offset: Int = 0, count: Int = 0) { (self.offset, self.count) = (offset, count) }

  /// Returns a copy of the bytes; `memory` may be changed by the other end meanwhile.
  ///
  /// - Throws: ``Malformed`` if it is not within the memory, or longer than `limit`.
  package func copy(
    from memory: Elements<UInt8>,
    _ field: String,
    limit: Int,
  ) throws(Malformed) -> Data {
    guard count <= limit else { throw Malformed(field: field) }
    return try part(of: memory, field).data
  }

  /// Returns the bytes in place.
  ///
  /// - Throws: ``Malformed`` if they are not within the memory.
  func part(of memory: Elements<UInt8>, _ field: String) throws(Malformed) -> Elements<UInt8> {
    guard offset >= 0, count >= 0, offset <= memory.count, count <= memory.count - offset else {
      throw Malformed(field: field)
    }
    return memory.extracting(offset..<offset + count)
  }
}

extension Message {
  package mutating func code(_ range: inout SharedRange, _ field: String) throws(Malformed) {
    try code(&range.offset, field, in: 0...SharedMapping.limit)
    try code(&range.count, field, in: 0...SharedMapping.limit)
  }
}
