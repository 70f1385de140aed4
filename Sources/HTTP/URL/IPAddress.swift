import VitrineRuntime

/// An IPv4 or IPv6 address.
///
/// An IPv4 address within IPv6 (`::ffff:10.0.0.1`) is an IPv6 address here; the guard checks both.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// The 4 or 16 bytes in network order.
  package let bytes: [UInt8]

  /// Parses an address as in a URL, or returns `nil` if the text is not an address.
  ///
  /// Brackets around IPv6 are optional. IPv4 with fewer parts, in octal and in hexadecimal is parsed like `inet_aton`:
  /// `0x7f.1` is `127.0.0.1`.
  package init?(_ string: String) {
    let isBracketed = string.hasPrefix("[") && string.hasSuffix("]")
    let text = isBracketed ? String(string.dropFirst().dropLast()) : string
    guard let bytes = text.utf8.contains(UInt8(ascii: ":")) ? Self.bytes6(text) : Self.bytes4(text) else { return nil }
    self.bytes = bytes
  }

  /// Creates an address from 4 or 16 bytes in network order, or returns `nil` for any other number.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Converts a socket address, or returns `nil` if it is of another family.
  init?(socketAddress address: UnsafePointer<sockaddr>?) {
    guard let address = unsafe address else { return nil }
    let (start, count): (Int?, Int) =
      switch unsafe CInt(address.pointee.sa_family) {
      case AF_INET: (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr), 4)
      case AF_INET6: (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr), 16)
      default: (nil, 0)
      }
    guard let start else { return nil }
    // The family determines which bytes are valid.
    self.init(bytes: unsafe Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start, count: count)))
  }

  private static func bytes4(_ text: String) -> [UInt8]? {
    guard let canonical = HostName.canonical(text[...]) else { return nil }
    let parts = canonical.split(separator: ".").compactMap { UInt8($0) }
    return parts.count == 4 && canonical.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") } ? parts : nil
  }

  private static func bytes6(_ text: String) -> [UInt8]? {
    var address = in6_addr()
    // `address` outlives the call, and has the type that the function writes for this family.
    guard unsafe inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    return unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
  }

  /// A Boolean value that indicates whether the address is an IPv6 address.
  package var isIPv6: Bool { bytes.count == 16 }

  /// The address in its canonical form, without brackets.
  package var description: String {
    guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // 16 bytes are an address of this family, and the buffer has the given length.
    guard unsafe inet_ntop(AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The IPv4 addresses that this IPv6 address may lead to: mapped, compatible, 6to4, NAT64, Teredo, ISATAP.
  var embedded: [IPAddress] {
    guard isIPv6 else { return [] }
    func starts(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
    let zeros = [UInt8](repeating: 0, count: 8)
    // The third prefix belongs to ::ffff:0:a.b.c.d, the translated form of RFC 2765.
    let mapped: [[UInt8]] = [[0, 0, 0, 0], [0, 0, 0xFF, 0xFF], [0xFF, 0xFF, 0, 0]]
    let prefixes = mapped.map { zeros + $0 } + [[0, 0x64, 0xFF, 0x9B]]
    var found = prefixes.filter(starts).map { _ in bytes[12...] }
    if starts([0x20, 0x02]) { found.append(bytes[2..<6]) }
    if starts([0x20, 0x01, 0, 0]) {
      found.append(bytes[4..<8])
      found.append(bytes[12...].map { ~$0 }[...])
    }
    if bytes[8] & 0xFC == 0, bytes[9] == 0, bytes[10] == 0x5E, bytes[11] == 0xFE { found.append(bytes[12...]) }
    return found.compactMap { IPAddress(bytes: Array($0)) }
  }
}

/// A range of addresses with a common prefix.
public struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
  /// An address of the network.
  package let address: IPAddress
  /// The number of bits in the prefix.
  package let prefixLength: Int

  /// Parses `10.0.0.0/8`, `fd00::/8` or a single address, or returns `nil` for any other text.
  public init?(_ string: String) {
    let parts = string.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
    let bits = address.bytes.count * 8
    let length = parts.count == 2 ? Int(parts[1]) : bits
    guard let length, (0...bits).contains(length) else { return nil }
    (self.address, prefixLength) = (address, length)
  }

  /// The address and the prefix length, such as `10.0.0.0/8`.
  public var description: String { "\(address)/\(prefixLength)" }

  /// Returns a Boolean value that indicates whether the network contains an address of the same family.
  package func contains(_ other: IPAddress) -> Bool {
    let (own, others, whole) = (address.bytes, other.bytes, prefixLength / 8)
    guard others.count == own.count, others.prefix(whole) == own.prefix(whole) else { return false }
    return prefixLength % 8 == 0 || (own[whole] ^ others[whole]) >> UInt8(8 - prefixLength % 8) == 0
  }
}
