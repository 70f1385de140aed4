import Contest
import Foundation
import VitrineHTTP
import VitrineTesting

/// A file server in its own process: nginx if it is installed, otherwise this program with `LoopbackServer`.
struct Server {
  let name: String
  let port: Int
  private let process: Process

  init(of folder: URL, in scratch: URL) async throws {
    process = Process()
    if let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx", "/usr/local/bin/nginx"]
      .first(where: FileManager.default.isExecutableFile)
    {
      name = "nginx"
      port = try Self.freePort()
      let file = scratch.appending(path: "nginx.conf")
      try Self.configuration(port: port, folder: folder.path, scratch: scratch.path)
        .write(to: file, atomically: true, encoding: .utf8)
      process.executableURL = URL(filePath: nginx)
      process.arguments = ["-c", file.path, "-e", scratch.appending(path: "nginx.log").path]
      try process.run()
    } else {
      name = "LoopbackServer"
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      process.arguments = ["serve", folder.path]
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
      guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw BenchmarkError("the server did not start")
      }
      self.port = port
    }
    while !Self.answers(port) {
      guard process.isRunning else { throw BenchmarkError("\(name) did not start; see \(scratch.path)") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  private static func configuration(port: Int, folder: String, scratch: String) -> String {
    """
    daemon off;
    \(getuid() == 0 ? "user root;" : "")
    worker_processes 1;
    pid \(scratch)/nginx.pid;
    events { worker_connections 1024; }
    http {
      access_log off;
      sendfile on;
      tcp_nopush on;
      keepalive_requests 1000000000;
      types { image/jpeg jpg; }
      client_body_temp_path \(scratch)/body;
      proxy_temp_path \(scratch)/proxy;
      fastcgi_temp_path \(scratch)/fastcgi;
      uwsgi_temp_path \(scratch)/uwsgi;
      scgi_temp_path \(scratch)/scgi;
      server {
        listen 127.0.0.1:\(port);
        root \(folder);
      }
    }
    """
  }

  private static func socketAddress(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func withSocket<T>(_ body: (CInt) throws -> T) throws -> T {
    #if os(Linux)
    let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
    let socket = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard socket >= 0 else { throw BenchmarkError("no socket") }
    defer { close(socket) }
    return try body(socket)
  }

  private static func freePort() throws -> Int {
    try withSocket { socket in
      var address = socketAddress(port: 0)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, size) == 0 ? getsockname(socket, $0, &size) : -1
        }
      }
      guard status == 0 else { throw BenchmarkError("no port") }
      return Int(UInt16(bigEndian: address.sin_port))
    }
  }

  private static func answers(_ port: Int) -> Bool {
    let status = try? withSocket { socket in
      var address = socketAddress(port: port)
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    return status == 0
  }
}

/// `bench-pipeline serve FOLDER`: prints its port, and serves until it is terminated.
func serve(folder: String) -> Never {
  do {
    let server = try LoopbackServer()
    server.route("*") { exchange in
      let path = folder + exchange.request.path
      guard let body = FileManager.default.contents(atPath: path) else {
        exchange.respond(LoopbackResponse(status: 404))
        return
      }
      exchange.respond(LoopbackResponse(headers: ["Content-Type": "image/jpeg"], body: body))
    }
    say("\(server.port)")
    // Reached only if a signal ends the wait.
    withExtendedLifetime(server) { _ = pause() }
    exit(0)
  } catch {
    say("\(error)")
    exit(1)
  }
}
