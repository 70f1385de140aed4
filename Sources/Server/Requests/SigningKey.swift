import VitrineRuntime

/// A key and a salt with which URLs are signed, as imgproxy does: HMAC-SHA256 over the salt and the path.
///
/// ```swift
/// let key = try SigningKey(key: "943b421c9eb07c83", salt: "520f986b998545b4")
/// let target = key.signing("/rs:fill:300:200/plain/https://example.org/cat.jpg")
/// ```
/// Its description shows neither.
public struct SigningKey: Sendable, Hashable, CustomStringConvertible {
  private let key: [UInt8]
  private let salt: [UInt8]
  private let size: Int

  /// Makes a key of hexadecimal digits.
  ///
  /// - Parameters:
  ///   - key: The key; at least one byte.
  ///   - salt: The salt, which may be empty.
  ///   - size: The number of bytes of the hash that are kept, from 8 to 32. Defaults to 32, all. A signature of 8 bytes
  ///     takes 2^63 attempts to guess.
  /// - Throws: ``ConfigurationError``, whose text does not contain the key.
  public init(key: String, salt: String, size: Int = 32) throws(ConfigurationError) {
    guard let key = Self.bytes(key), !key.isEmpty else {
      throw ConfigurationError("a signing key takes an even number of hexadecimal digits, at least two")
    }
    guard let salt = Self.bytes(salt) else {
      throw ConfigurationError("a salt takes an even number of hexadecimal digits")
    }
    guard (8...32).contains(size) else {
      throw ConfigurationError("a signature has from 8 to 32 bytes, not \(size)")
    }
    (self.key, self.salt, self.size) = (key, salt, size)
  }

  /// Makes keys of settings, which name several separated by commas, as imgproxy's do.
  ///
  /// - Parameters:
  ///   - keys: The keys, each in hexadecimal digits.
  ///   - salts: As many salts; empty for none.
  ///   - size: The number of bytes of the hash that are kept. Defaults to 32, all.
  /// - Returns: The keys, in order; the first one signs.
  /// - Throws: ``ConfigurationError``, whose text does not contain the keys.
  public static func list(keys: String, salts: String, size: Int = 32) throws(ConfigurationError) -> [SigningKey] {
    let keys = keys.split(separator: ",", omittingEmptySubsequences: false)
    let salts =
      salts.isEmpty ? keys.map { _ in "" } : salts.split(separator: ",", omittingEmptySubsequences: false)
    guard keys.count == salts.count else {
      throw ConfigurationError("there are \(keys.count) signing keys and \(salts.count) salts")
    }
    var list: [SigningKey] = []
    for (key, salt) in zip(keys, salts) {
      list.append(try SigningKey(key: String(key), salt: String(salt), size: size))
    }
    return list
  }

  /// Returns the path and query of a request with its signature.
  ///
  /// - Parameter target: The path and the query, without a signature, or with `_`, `unsafe` or `insecure` in its place:
  ///   `/w:100/plain/https://example.org/cat.jpg`, `/?src=https://example.org/cat.jpg&w=100`.
  /// - Returns: The same with the signature.
  public func signing(_ target: String) -> String {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? ""
    if ThumbnailURLs.isQueryForm(path) {
      let query = parts.count > 1 ? String(parts[1]) : ""
      let signature = signature(of: ThumbnailURLs.signedText(path: path, query: query))
      return "\(path.isEmpty ? "/" : path)?\(query)&sig=\(signature)"
    }
    if let signed = ThumbnailURLs.signing(zoom: path, by: self) { return signed }
    let info = path.hasPrefix("/info/") ? "/info" : ""
    var rest = path.dropFirst(info.count)
    for place in ["/_/", "/unsafe/", "/insecure/"] where rest.hasPrefix(place) {
      rest = rest.dropFirst(place.count - 1)
    }
    let signed = ThumbnailURLs.withWholeScheme(String(rest))
    let query = parts.count > 1 ? "?\(parts[1])" : ""
    return "\(info)/\(signature(of: info + signed))\(signed)\(query)"
  }

  /// Returns the signature of a path, in Base64 for URLs without padding.
  ///
  /// - Parameter path: What follows the signature in the path, from its slash on, as it is sent.
  /// - Returns: The signature.
  public func signature(of path: String) -> String {
    Base64URL.encode(HMAC.sha256(salt + Array(path.utf8), key: key).prefix(size))
  }

  /// Returns whether a signature is a path's.
  ///
  /// The time does not depend on how much of it is right.
  public func verifies(_ signature: some StringProtocol, of path: String) -> Bool {
    HMAC.areEqual(Array(signature.utf8), Array(self.signature(of: path).utf8))
  }

  /// A text without the key.
  public var description: String { "signing key" }

  /// Reads hexadecimal digits.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      // `UInt8` also reads a sign.
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16),
        digits[index] != UInt8(ascii: "+"), digits[index] != UInt8(ascii: "-")
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}

extension SigningKey: CustomReflectable {
  /// A mirror without the key, since dumps end up in logs.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error of a setting, for the person who runs the server.
public struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  /// A text that says what is wrong.
  public let description: String

  /// Makes an error.
  public init(_ description: String) { self.description = description }
}
