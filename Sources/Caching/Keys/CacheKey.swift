import VitrineRuntime

/// The key of a cache entry: bytes that distinguish the entry from all others.
///
/// Create a key once per request and pass it on, since creating it computes its hash. Copies share the bytes.
///
/// ```swift
/// let image = CacheKey { $0.append("https://example.com/cat.jpg") }
/// let thumbnail = image.extended { $0.append(300); $0.append(300); $0.append("fit") }
/// ```
///
/// Any bytes form a valid key, including none and zeros. Two keys are equal if their bytes are.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of the key.
  public let bytes: [UInt8]
  // The hash uses a secret of the process, for caches in memory. A disk cache uses a secret that it stores beside its
  // files, see ``hash(under:)``.
  package let hash: KeyHash

  private static let secret = SipHash.Secret.random()

  /// Creates a key from bytes, which it adopts without a copy.
  ///
  /// Complexity: O(count), about 1 nanosecond a byte.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
    hash = Self.hash(bytes, under: Self.secret)
  }

  /// Creates a key from parts.
  ///
  /// Each is stored with its type and length, so different lists of parts make different keys.
  ///
  /// Complexity: O(count) in the bytes of all parts.
  public init(_ build: (inout Builder) -> Void) {
    var builder = Builder(after: [])
    build(&builder)
    self.init(bytes: builder.bytes)
  }

  /// Returns the key of this key's parts and further ones.
  ///
  /// Complexity: O(count) in the bytes of all parts.
  package func extended(_ build: (inout Builder) -> Void) -> CacheKey {
    var builder = Builder(after: bytes)
    build(&builder)
    return CacheKey(bytes: builder.bytes)
  }

  /// Returns the key of the first `count` bytes, where `count` comes from ``Builder/count``.
  ///
  /// Complexity: O(count), since they are copied and hashed. Call it only when the key is needed.
  package func prefix(_ count: Int) -> CacheKey { CacheKey(bytes: Array(bytes.prefix(count))) }

  /// Returns a Boolean value that indicates whether two keys have the same bytes.
  public static func == (left: CacheKey, right: CacheKey) -> Bool {
    left.hash == right.hash && left.hasBytes(copiedFrom: right.bytes)
  }

  /// Feeds the hash that was computed when the key was created.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(hash.low)
  }

  /// A Boolean value that indicates whether this key extends another one by further parts.
  package func isExtension(of other: CacheKey) -> Bool {
    bytes.count > other.bytes.count && bytes.starts(with: other.bytes)
  }

  /// A Boolean value that indicates whether the key has these bytes.
  ///
  /// If both share one buffer, the bytes are not read, which saves a memory access.
  @inline(__always)
  func hasBytes(copiedFrom others: [UInt8]) -> Bool {
    // An array is a single reference to its buffer.
    let isCopy = unsafe unsafeBitCast(bytes, to: UInt.self) == unsafeBitCast(others, to: UInt.self)
    return isCopy || hasBytes(others)
  }

  func hasBytes(_ others: [UInt8]) -> Bool { unsafe others.withUnsafeBytes { unsafe hasBytes($0) } }

  func hasBytes(_ others: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == others.count, let start = others.baseAddress else { return bytes.count == others.count }
    // Both have `others.count` bytes.
    return unsafe bytes.withUnsafeBytes { unsafe $0.baseAddress.map { unsafe memcmp($0, start, others.count) == 0 } }
      ?? true
  }

  /// Returns the hash under another secret.
  ///
  /// Complexity: O(count).
  package func hash(under secret: SipHash.Secret) -> KeyHash {
    Self.hash(bytes, under: secret)
  }

  private static func hash(_ bytes: [UInt8], under secret: SipHash.Secret) -> KeyHash {
    // The bytes are only read while the closure runs.
    unsafe bytes.withUnsafeBytes { unsafe SipHash.hash($0, secret: secret) }
  }
}
