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
      if let address = unsafe IPAddress(socketAddress: entry.pointee.ai_addr),
        let objection = objection(to: address)
      {
        return objection
      }
      unsafe next = entry.pointee.ai_next
    }
    return nil
  }
}
