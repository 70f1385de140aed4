import VitrineRuntime

/// A socket on which a server listens.
struct ListeningSocket {
  let descriptor: CInt
  /// The port; 0 for a socket that is a file.
  let port: Int
  var file: UnixSocket.File?

  /// Takes a socket that listens already.
  init(_ descriptor: CInt) { (self.descriptor, port) = (descriptor, Self.port(of: descriptor)) }

  /// Listens on an address and a port.
  ///
  /// - Parameters:
  ///   - host: A numeric address of either family, or a name; empty for all addresses; or `unix:` and a path.
  ///   - port: The port; 0 for a free one.
  ///   - backlog: The number of connections that wait to be accepted.
  /// - Returns: The socket, or the reason why there is none.
  static func open(host: String, port: Int, backlog: CInt = 1024) -> Result<ListeningSocket, FileError> {
    if host.hasPrefix(UnixSocket.prefix) {
      return UnixSocket.open(String(host.dropFirst(UnixSocket.prefix.count)), backlog: backlog).map { opened in
        var socket = ListeningSocket(opened.socket)
        socket.file = opened.file
        return socket
      }
    }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = streamSocketType
    unsafe hints.ai_flags = CInt(AI_PASSIVE) | CInt(AI_NUMERICSERV)
    var first: UnsafeMutablePointer<addrinfo>?
    // `hints` outlives the call; the list is freed below.
    let status = unsafe getaddrinfo(host.isEmpty ? nil : host, "\(port)", &hints, &first)
    guard status == 0, let list = unsafe first else {
      return .failure(FileError("\(host) is no address of this machine"))
    }
    defer { unsafe freeaddrinfo(list) }
    var reason = FileError(code: EADDRNOTAVAIL)
    // Every interface of both families is one socket, if there is IPv6.
    var entries: [UnsafeMutablePointer<addrinfo>] = unsafe []
    var next = unsafe first
    while let entry = unsafe next {
      unsafe entries.append(entry)
      unsafe next = unsafe entry.pointee.ai_next
    }
    if host.isEmpty {
      unsafe entries.sort { unsafe $0.pointee.ai_family == AF_INET6 && $1.pointee.ai_family != AF_INET6 }
    }
    for index in unsafe 0..<entries.count {
      let entry = unsafe entries[index].pointee
      let descriptor = unsafe socket(
        entry.ai_family,
        entry.ai_socktype | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue),
        entry.ai_protocol,
      )
      guard descriptor >= 0 else {
        reason = FileError(code: errno)
        continue
      }
      set(SO_REUSEADDR, SOL_SOCKET, 1, descriptor)
      if unsafe entry.ai_family == AF_INET6 { set(IPV6_V6ONLY, CInt(IPPROTO_IPV6), host.isEmpty ? 0 : 1, descriptor) }
      // The address belongs to the list.
      guard unsafe bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, backlog) == 0 else {
        reason = FileError(code: errno)
        close(descriptor)
        continue
      }
      return .success(ListeningSocket(descriptor))
    }
    return .failure(reason)
  }

  private static func set(_ option: CInt, _ level: CInt, _ value: CInt, _ socket: CInt) {
    var value = value
    _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  private static func port(of socket: CInt) -> Int {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // The storage is large enough for every family.
    let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &size) }
    }
    guard status == 0, [AF_INET, AF_INET6].contains(CInt(storage.ss_family)) else { return 0 }
    // The port is at the same place in both families.
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      Int(UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    }
  }
}

/// The address of a client as text.
enum PeerAddress {
  static func text(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    let start = unsafe UnsafeRawPointer(address)
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = unsafe CInt(start.loadUnaligned(as: sa_family_t.self))
    // The family says which structure it is; the text has room for the longest.
    let result =
      switch family {
      case AF_INET: unsafe inet_ntop(family, start + 4, &text, socklen_t(text.count))
      case AF_INET6: unsafe inet_ntop(family, start + 8, &text, socklen_t(text.count))
      default: unsafe UnsafePointer<CChar>?.none
      }
    guard let result = unsafe result else { return "" }
    let name = unsafe String(cString: result)
    return name.hasPrefix("::ffff:") ? String(name.dropFirst(7)) : name
  }
}
