import VitrineRuntime

extension AddressGuard {
  /// Looks up a name and returns the reason why one of its addresses is refused.
  ///
  /// Blocks. Returns `nil` if all are allowed, or if the look-up fails, which the connection then reports.
  func objection(toAddressesOf host: String) -> String? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = streamSocketType
    var first: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &first) == 0 else { return nil }
    defer { unsafe freeaddrinfo(first) }
    var next = unsafe first
    while let entry = unsafe next {
      // The list belongs to the system, and is freed after this.
      if let address = unsafe IPAddress(entry.pointee), let objection = objection(to: address) { return objection }
      unsafe next = entry.pointee.ai_next
    }
    return nil
  }
}

extension IPAddress {
  /// Creates an address from the system's structure, or returns `nil` if it is neither IPv4 nor IPv6.
  fileprivate init?(_ info: addrinfo) {
    // Both structures begin as `sockaddr` does, and `ai_family` determines the type.
    guard let start = unsafe UnsafeRawPointer(info.ai_addr) else { return nil }
    let bytes: [UInt8]
    switch unsafe info.ai_family {
    case AF_INET:
      bytes = unsafe withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in.self).sin_addr) { unsafe Array($0) }
    case AF_INET6:
      bytes = unsafe withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { unsafe Array($0) }
    default: return nil
    }
    self.init(bytes: bytes)
  }
}
