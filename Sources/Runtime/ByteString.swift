/// Bytes that are mostly text, such as a file name, preserved whatever their encoding.
///
/// Two values are equal if their bytes are. `String` differs: "é" as one character equals "é" as two, but on Linux
/// they name two files.
package struct ByteString: Hashable, Sendable {
  package var bytes: [UInt8]

  @inlinable
  package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  package init(_ text: String) { bytes = Array(text.utf8) }

  package var isEmpty: Bool { bytes.isEmpty }

  /// The bytes as text; `nil` if they are not valid UTF-8.
  package var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Text for people and for JSON.
  ///
  /// Invalid UTF-8 appears as `\xE9`.
  package var readable: String {
    if let text { return text }
    var result = ""
    var rest = bytes[...]
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let scalar):
        result.unicodeScalars.append(Unicode.UTF8.decode(scalar))
        rest = rest.dropFirst(scalar.count)
      case .error(let length):
        for byte in rest.prefix(length) { result += "\\x" + String(byte, radix: 16, uppercase: true) }
        rest = rest.dropFirst(length)
      case .emptyInput: return result
      }
    }
  }

  /// Calls `body` with the bytes and a terminating zero, as C functions expect.
  package func withCString<R, E: Error>(_ body: (UnsafePointer<CChar>) throws(E) -> R) throws(E) -> R {
    let characters = bytes.map { CChar(bitPattern: $0) } + [0]
    let result: Result<R, E> = unsafe characters.withUnsafeBufferPointer { pointer in
      Result { () throws(E) in
        // The terminating zero makes the buffer non-empty.
        guard let start = pointer.baseAddress else {
          preconditionFailure("an array of at least one element has a start")
        }
        return try unsafe body(start)
      }
    }
    return try result.get()
  }

  package static func + (left: Self, right: Self) -> Self { Self(bytes: left.bytes + right.bytes) }
}

extension ByteString: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self.init(text) }
}

extension ByteString {
  /// The part after the last slash, ignoring slashes at the end; empty if there is nothing else.
  package var lastComponent: ByteString {
    ByteString(bytes: bytes.split(separator: UInt8(ascii: "/")).last ?? [])
  }

  /// Returns `true` if the last byte is this character.
  package func ends(with character: Unicode.Scalar) -> Bool { bytes.last == UInt8(ascii: character) }

  /// Returns the system's status of the file, or of the symbolic link itself; `nil` if there is none.
  package func status(followingLinks: Bool = true) -> stat? {
    var info = stat()
    // `info` outlives the calls.
    let code = unsafe withCString { name in
      unsafe followingLinks ? stat(name, &info) : lstat(name, &info)
    }
    return code == 0 ? info : nil
  }
}
