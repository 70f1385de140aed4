import CLibMicroHTTPD
import VitrineHTTP
import VitrineRuntime

/// A check of the head of a request.
///
/// libmicrohttpd reads heads with more tolerance than RFC 9112 has. Where a proxy in front reads the same bytes
/// otherwise, the bytes that follow would be another client's request.
struct RequestHead {
  /// The answer to a head that is refused; `nil` if all is well.
  private(set) var fault: (status: Int, text: String)?

  private final class Walk {
    /// The address at which the last text ends.
    var end: UInt
    var hosts = 0
    var lengths: [String] = []
    var hasEncoding = false
    var fault: String?

    init(from end: UInt) { self.end = end }
  }

  /// True before the version that refuses zero bytes and folded lines itself.
  ///
  /// Until then texts stay where they were read, with zero bytes in place of the ends of lines.
  private static let keepsLines =
    unsafe MHD_get_version().map {
      let parts = unsafe String(cString: $0).split(separator: ".").map { Int($0) ?? 0 }
      return parts.lexicographicallyPrecedes([0, 9, 77])
    } ?? false

  /// Looks at the head of a connection's request, whose target ended at an address; called within its callback.
  @safe
  init(_ targetEnd: UInt, _ version: UnsafePointer<CChar>, _ connection: OpaquePointer) {
    // Both belong to the connection, which is alive.
    let walk = unsafe Walk(from: Self.end(of: version))
    let isNext = !Self.keepsLines || UInt(bitPattern: version) == targetEnd + 1
    guard isNext, unsafe String(cString: version).hasPrefix("HTTP/1.") else {
      fault = (400, "the request line is not a method, a target and a version")
      return
    }
    // Called for each field before the function returns, while `walk` lives; the texts are the connection's.
    unsafe MHD_get_connection_values(
      connection,
      .HEADER_KIND,
      { context, _, key, value in
        guard let context = unsafe context, let key = unsafe key, let value = unsafe value else { return .YES }
        let walk = unsafe Unmanaged<Walk>.fromOpaque(context).takeUnretainedValue()
        return unsafe RequestHead.look(at: key, value, walk) ? .YES : .NO
      },
      Unmanaged.passUnretained(walk).toOpaque(),
    )
    if walk.fault == nil, Self.keepsLines {
      // The ends of the last line and of the head. The connection's memory goes on behind them, with the fields' places.
      let rest = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: walk.end), count: 4)
      if unsafe !rest.allSatisfy({ $0 == 0 }) { walk.fault = Self.lineFault }
    }
    if let text = walk.fault {
      fault = (400, text)
    } else if walk.hosts > 1 {
      fault = (400, "there is more than one Host")
    } else if walk.lengths.count > 1 {
      fault = (400, "there is more than one Content-Length")
    } else if walk.hasEncoding || walk.lengths.contains(where: { $0 != "0" }) {
      fault = (413, "a request has no body here")
    }
  }

  private static func end(of text: UnsafePointer<CChar>) -> UInt {
    unsafe UInt(bitPattern: text) + UInt(strlen(text))
  }

  private static let lineFault = "a line is folded, has a zero byte, or does not end with CR and LF"

  /// Looks at a field; returns `false` if it is wrong.
  private static func look(at key: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>, _ walk: Walk) -> Bool {
    let (name, text) = unsafe (String(cString: key), String(cString: value))
    if name.isEmpty || !name.utf8.allSatisfy(\.isTokenCharacter) {
      walk.fault = "the name of a field has other characters than those of a token"
    } else if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
      walk.fault = "a field has control characters"
    } else if keepsLines, UInt(bitPattern: key) != walk.end + 2 {
      walk.fault = lineFault
    }
    walk.end = unsafe end(of: value)
    switch name.lowercased() {
    case "host": walk.hosts += 1
    case "content-length": walk.lengths.append(text)
    case "transfer-encoding": walk.hasEncoding = true
    default: break
    }
    return walk.fault == nil
  }
}
