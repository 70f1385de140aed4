import CLibNettle
import VitrineRuntime

/// The key with which sources in URLs are encrypted, as imgproxy does, so that a URL does not show where its original is.
///
/// ```swift
/// let key = try SourceKey("1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1")
/// let target = try key.encryptingSource(of: "/rs:fill:300:200/plain/https://example.org/cat.jpg@webp")
/// ```
/// It is AES in CBC mode (NIST SP 800-38A, section 6.2) with the padding of PKCS #7 (RFC 5652, section 6.3), behind an
/// initialization vector of 16 bytes. Only a signature keeps a stranger from changing what is encrypted. Its description
/// does not show the key.
public struct SourceKey: Sendable, Hashable, CustomStringConvertible {
  private static let blockSize = 16
  private let key: [UInt8]

  /// Makes a key of 32, 48 or 64 hexadecimal digits.
  ///
  /// - Throws: ``ConfigurationError``, whose text does not contain the key.
  public init(_ digits: String) throws(ConfigurationError) {
    guard let key = SigningKey.bytes(digits), [16, 24, 32].contains(key.count) else {
      throw ConfigurationError("a key of sources takes 32, 48 or 64 hexadecimal digits")
    }
    self.key = key
  }

  /// Returns a path with its plain source encrypted; equal sources give equal texts.
  ///
  /// - Parameter target: The path, with or without a signature: `/w:100/plain/https://example.org/cat.jpg@webp`.
  /// - Returns: The path, with `enc` and the encrypted source in place of `plain` and the source.
  /// - Throws: ``RequestError`` if the source is not behind `/plain/`, or a `%` in it encodes nothing.
  public func encryptingSource(of target: String) throws(RequestError) -> String {
    let whole = ThumbnailURLs.withWholeScheme(target)
    guard let place = whole.firstRange(of: "/plain/") else {
      throw RequestError(400, "only a source behind /plain/ is encrypted")
    }
    let (text, format) = try ThumbnailURLs.plainSource(whole[place.upperBound...])
    return "\(whole[..<place.lowerBound])/enc/\(encrypt(text))\(format.map { ".\($0)" } ?? "")"
  }

  /// Returns a source encrypted, in Base64 for URLs.
  func encrypt(_ source: String) -> String {
    let text = Array(source.utf8)
    let count = Self.blockSize - text.count % Self.blockSize
    let vector = Array(HMAC.sha256(text, key: key).prefix(Self.blockSize))
    return Base64URL.encode(
      vector + convert(text + Array(repeating: UInt8(count), count: count), vector, encrypts: true)
    )
  }

  /// Returns the source of the bytes in a URL; `nil` if they are not encrypted with the key.
  func decrypt(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= 2 * Self.blockSize, bytes.count.isMultiple(of: Self.blockSize) else { return nil }
    let text = convert(Array(bytes.dropFirst(Self.blockSize)), Array(bytes.prefix(Self.blockSize)), encrypts: false)
    guard let last = text.last, (1...Self.blockSize).contains(Int(last)),
      text.suffix(Int(last)).allSatisfy({ $0 == last })
    else { return nil }
    return Array(text.dropLast(Int(last)))
  }

  private func convert(_ text: [UInt8], _ vector: [UInt8], encrypts: Bool) -> [UInt8] {
    var (vector, result) = (vector, [UInt8](repeating: 0, count: text.count))
    // The list ends with a null pointer, and its entries are constants of the library.
    var entry = unsafe nettle_get_ciphers()
    while let cipher = unsafe entry?.pointee?.pointee {
      guard unsafe String(cString: cipher.name) == "aes\(key.count * 8)" else {
        unsafe entry = entry?.successor()
        continue
      }
      // The context is as large and as aligned as any cipher needs; the vector and both texts are whole blocks.
      let context = unsafe UnsafeMutableRawPointer.allocate(byteCount: Int(cipher.context_size), alignment: 16)
      defer { unsafe context.deallocate() }
      unsafe (encrypts ? cipher.set_encrypt_key : cipher.set_decrypt_key)(context, key)
      if encrypts {
        unsafe nettle_cbc_encrypt(context, cipher.encrypt, Self.blockSize, &vector, text.count, &result, text)
      } else {
        unsafe nettle_cbc_decrypt(context, cipher.decrypt, Self.blockSize, &vector, text.count, &result, text)
      }
      return result
    }
    preconditionFailure("libnettle has no AES")
  }

  /// A text without the key.
  public var description: String { "source key" }
}

extension SourceKey: CustomReflectable {
  /// A mirror without the key, since dumps end up in logs.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
