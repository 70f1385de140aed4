import VitrineRuntime

/// The name under which a client has its share of everything.
enum ClientName {
  /// Returns the name of an address: itself, or the network of 64 bits of one of IPv6, of which one client has all.
  ///
  /// A port, which some proxies add, is left out. What is no address is its own name.
  static func of(_ text: String) -> ByteString {
    let address = withoutPort(text)
    var bytes = in6_addr()
    // The kernel's library writes into `bytes`, whose size it knows.
    guard address.contains(":"), unsafe inet_pton(AF_INET6, address, &bytes) == 1 else { return ByteString(address) }
    // The copy is made while `bytes` lives.
    let network = unsafe withUnsafeBytes(of: bytes) { unsafe Array($0) }
    let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]
    if network.starts(with: mapped) { return ByteString(network[12...].map(String.init).joined(separator: ".")) }
    let words = stride(from: 0, to: 8, by: 2).map { String(Int(network[$0]) << 8 | Int(network[$0 + 1]), radix: 16) }
    return ByteString(words.joined(separator: ":") + "::/64")
  }

  private static func withoutPort(_ text: String) -> String {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[..<end].dropFirst()) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? String(parts[0]) : text
  }
}
