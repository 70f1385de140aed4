import VitrineRuntime

/// Names an entry of a cache by bytes: everything that makes one entry different from another.
///
/// Make it once per request and hand it around: its hash is computed when it is made. Copies share the bytes.
///
/// ```swift
/// let image = CacheKey { $0.append("https://example.com/cat.jpg") }
/// let thumbnail = image.extended { $0.append(300); $0.append(300); $0.append("fit") }
/// ```
///
/// Any bytes are a key: none, ten thousand, zeros among them. Two keys are equal if their bytes are.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of the key.
  public let bytes: [UInt8]
  // Under a secret of the process, for caches in memory. What is kept on disk is found by a hash under a secret that
  // lies beside it, see ``hash(under:)``.
  package let hash: KeyHash

  private static let secret = SipHash.Secret.random()

  /// Creates a key of bytes as they are, which it takes over without a copy.
  ///
  /// Complexity: O(count), about 1 nanosecond a byte.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
    hash = Self.hash(bytes, under: Self.secret)
  }

  /// Creates a key of parts, each with its type and length, so that no two lists of parts make the same key.
  ///
  /// Complexity: O(count) in the bytes of all parts.
  public init(_ build: (inout Builder) -> Void) {
    var builder = Builder(after: [])
    build(&builder)
    self.init(bytes: builder.bytes)
  }

  /// Returns the key of this one's parts and further ones.
  ///
  /// Complexity: O(count) in the bytes of all parts.
  public func extended(_ build: (inout Builder) -> Void) -> CacheKey {
    var builder = Builder(after: bytes)
    build(&builder)
    return CacheKey(bytes: builder.bytes)
  }

  /// Returns the key of its first bytes, as many as were there when ``Builder/count`` said so.
  ///
  /// Complexity: O(count): they are copied and hashed, so ask when the key is needed.
  package func prefix(_ count: Int) -> CacheKey { CacheKey(bytes: Array(bytes.prefix(count))) }

  /// Returns whether the bytes are the same.
  public static func == (left: CacheKey, right: CacheKey) -> Bool {
    left.hash == right.hash && left.hasBytes(copiedFrom: right.bytes)
  }

  /// Feeds the hash that the key was made with.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(hash.low)
  }

  /// Whether it was made of another key by appending parts.
  package func isExtension(of other: CacheKey) -> Bool {
    bytes.count > other.bytes.count && bytes.starts(with: other.bytes)
  }

  /// Whether it has these bytes.
  ///
  /// Where they are its own that is seen without looking at them: one wait for memory less.
  @inline(__always)
  func hasBytes(copiedFrom others: [UInt8]) -> Bool {
    // An array is one reference to where its elements are.
    let isCopy = unsafe unsafeBitCast(bytes, to: UInt.self) == unsafeBitCast(others, to: UInt.self)
    return isCopy || hasBytes(others)
  }

  func hasBytes(_ others: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { left in
      unsafe others.withUnsafeBytes { right in
        unsafe Self.areEqual(left, right)
      }
    }
  }

  func hasBytes(_ others: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe Self.areEqual($0, others) }
  }

  /// Returns the hash under another secret.
  ///
  /// Complexity: O(count).
  package func hash(under secret: SipHash.Secret) -> KeyHash {
    Self.hash(bytes, under: secret)
  }

  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return true }
    // Both have as many bytes as are compared.
    return unsafe memcmp(leftStart, rightStart, left.count) == 0
  }

  private static func hash(_ bytes: [UInt8], under secret: SipHash.Secret) -> KeyHash {
    // The bytes are only read while the closure runs.
    unsafe bytes.withUnsafeBytes { unsafe SipHash.hash($0, secret: secret) }
  }
}
