import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

/// A server on a free port of 127.0.0.1, with sources of a fake loader, and its clients.
final class TestServer: Sendable {
  static let source = "http://images.invalid/cat.jpg"

  let server: ThumbnailServer
  let loader: FakeLoader
  private let client: CurlLoader

  /// Starts a server without a cache folder and with decoders of its own process.
  init(
    _ loader: FakeLoader = FakeLoader(),
    log: CInt? = nil,
    on socket: CInt? = nil,
    _ change: (inout ThumbnailServer.Configuration) -> Void = { _ in },
  ) throws {
    var configuration = ThumbnailServer.Configuration()
    (configuration.port, configuration.sandbox, configuration.loader) = (0, .none, loader)
    // Times that no slow machine reaches.
    let hour = Duration.seconds(3600)
    (configuration.headTime, configuration.idleTime, configuration.sendTime) = (hour, hour, hour)
    (configuration.requestTime, configuration.decodeTime) = (hour, hour)
    change(&configuration)
    self.loader = loader
    server = try ThumbnailServer(configuration, logFile: log)
    try server.start(on: socket)
    var options = CurlLoader.Options()
    // A quarter is kept for other hosts.
    (options.connectionLimit, options.connectionLimitPerHost) = (512, 384)
    client = CurlLoader(options)
  }

  var metrics: ServerMetrics { server.service.metrics }

  /// The target of a thumbnail.
  static func target(
    _ options: String = "rs:fit:64:64",
    of source: String = source,
    _ ending: String = "@jpg",
  ) -> String {
    "/_/\(options)/plain/\(source)\(ending)"
  }

  func get(
    _ target: String = TestServer.target(),
    _ headers: HTTPFields = [:],
    method: HTTPMethod = .get,
  ) async throws -> (response: HTTPResponse, body: Data) {
    var request = try HTTPRequest.patient("http://127.0.0.1:\(server.port)\(target)", headers: headers)
    (request.method, request.redirectPolicy) = (method, .follow(limit: 0))
    let (response, body) = try await client.data(for: request)
    return (response, body)
  }

  /// A photograph of 640 by 480 pixels.
  static let photograph: Data = {
    let bitmap = Bitmap.testPattern(width: 640, height: 480)
    return (try? EncoderRegistry.standard.encode(bitmap, as: .jpeg(quality: 90))) ?? Data()
  }()
}

/// A connection that sends what a test says.
final class RawConnection: Sendable {
  private let socket: CInt

  /// Takes a connection.
  init(_ socket: CInt) { self.socket = socket }

  /// Connects, with a receive buffer of a number of bytes, beyond which the server has to keep what is not read.
  init(to port: Int, receiving size: Int? = nil) throws {
    socket = try #require(openStreamSocket())
    if var size = size.map(CInt.init(clamping:)) {
      // The option is one `int`, which outlives the call.
      unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    // A `sockaddr_in` may be read as a `sockaddr`.
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw POSIXError(.ECONNREFUSED) }
  }

  deinit { close(socket) }

  /// Sends a text; stops if the server does not read on.
  func send(_ text: String) { send(bytes: Array(text.utf8)) }

  /// Sends bytes; stops if the server does not read on.
  func send(bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads until the server closes, on a thread of its own.
  func readAll() async -> String {
    let text = Deferred<String>()
    let socket = socket
    _ = startThread(named: "reader") {
      var (all, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
      while true {
        let count = unsafe recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else { break }
        all += bytes.prefix(count)
      }
      text.resolve(String(decoding: all, as: UTF8.self))
    }
    let answer = await text.value()
    withExtendedLifetime(self) {}
    return answer
  }

  /// Reads once.
  func read() async -> String {
    let text = Deferred<String>()
    let socket = socket
    _ = startThread(named: "reader") {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe recv(socket, &bytes, bytes.count, 0)
      text.resolve(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }
    let answer = await text.value()
    withExtendedLifetime(self) {}
    return answer
  }
}
