package import VitrineRuntime

/// Paths as text, whatever their bytes.
///
/// A byte that is not part of valid UTF-8 stands as one of 256 private characters, from U+F700 on, and so does each byte of
/// such a character itself: every path has one text, and every text of this kind one path.
extension ByteString {
  private static let first: UInt32 = 0xF700
  /// The first byte of the private characters in UTF-8.
  private static let mark: UInt8 = 0xEF

  /// The bytes as text.
  package var fileText: String {
    if let text, !text.utf8.contains(Self.mark) { return text }
    var result = String.UnicodeScalarView()
    func appendBytes(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { if let scalar = Unicode.Scalar(Self.first + UInt32(byte)) { result.append(scalar) } }
    }
    var rest = bytes[...]
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        if Self.isPrivate(scalar) { appendBytes(rest.prefix(encoded.count)) } else { result.append(scalar) }
        rest = rest.dropFirst(encoded.count)
      case .error(let length):
        appendBytes(rest.prefix(length))
        rest = rest.dropFirst(length)
      case .emptyInput: return String(result)
      }
    }
  }

  /// Copies a text of C.
  package init(cString: UnsafePointer<CChar>) {
    unsafe self.init(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
  }

  /// The bytes that a text of ``fileText`` stands for.
  package init(fileText: String) {
    guard fileText.hasPrivateBytes else {
      self.init(fileText)
      return
    }
    self.init(
      bytes: fileText.unicodeScalars.flatMap { scalar -> [UInt8] in
        Self.isPrivate(scalar) ? [UInt8(scalar.value - Self.first)] : Array(String(scalar).utf8)
      }
    )
  }

  fileprivate static func isPrivate(_ scalar: Unicode.Scalar) -> Bool { (first..<first + 256).contains(scalar.value) }
  fileprivate static func mayBePrivate(_ text: String) -> Bool { text.utf8.contains(mark) }
}

extension String {
  /// True if some bytes of the path that this text stands for are no text.
  package var hasPrivateBytes: Bool {
    ByteString.mayBePrivate(self) && unicodeScalars.contains(where: ByteString.isPrivate)
  }

  /// The path for people: bytes that are no text appear as `\xE9`.
  package var readablePath: String { hasPrivateBytes ? ByteString(fileText: self).readable : self }

  /// The `file:` URI of an absolute path.
  package var fileURI: String {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
    return ByteString(fileText: self).bytes.reduce(into: "file://") { uri, byte in
      if plain.contains(byte) {
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }
}
