import Foundation

/// nginx with one file, over plain HTTP and over HTTP/2 with a self-signed certificate.
///
/// Its shell terminates it when this process ends for any reason.
final class Server {
  let folder: String
  private let ports: [String: Int]
  private let lifeline: FileHandle

  var authority: String { "\(folder)/ca.pem" }

  init() throws {
    folder = NSTemporaryDirectory() + "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
    ports = ["plain": 18_080 + Int.random(in: 0..<1000) * 2, "http2": 18_081 + Int.random(in: 1000..<2000) * 2]
    try FileManager.default.createDirectory(atPath: folder + "/www", withIntermediateDirectories: true)
    let image = Data((0..<fileSize).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    try image.write(to: URL(filePath: folder + "/www/image.jpg"))
    try Self.configuration(folder, ports).write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", Self.script, "bash", folder]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    lifeline = input.fileHandleForWriting
    guard !output.fileHandleForReading.availableData.isEmpty else { throw BenchmarkError("nginx did not start") }
  }

  func url(_ scheme: String) -> String {
    "\(scheme == "plain" ? "http" : "https")://127.0.0.1:\(ports[scheme] ?? 0)/image.jpg"
  }

  /// The number of requests that nginx has received so far, including this one.
  func requestCount() throws -> Int {
    let text = try capture(["curl", "-s", "http://127.0.0.1:\(ports["plain"] ?? 0)/status"])
    let line = text.split(separator: "\n").dropFirst(2).first ?? ""
    return line.split(separator: " ").last.flatMap { Int($0) } ?? 0
  }

  func stop() { try? lifeline.close() }

  private static let script = #"""
    set -e
    PATH=$PATH:/usr/sbin
    cd "$1"
    {
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -days 2 -subj /CN=bench -out ca.pem
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout good.key -subj /CN=127.0.0.1 -out good.csr
      echo "subjectAltName=IP:127.0.0.1" >good.ext
      openssl x509 -req -in good.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile good.ext -out good.pem
    } 2>openssl.log >&2
    nginx -c "$1/nginx.conf" -e "$1/error.log"
    echo ready
    read -r _ || true
    nginx -c "$1/nginx.conf" -e "$1/error.log" -s stop
    rm -rf "$1"
    """#

  private static func configuration(_ folder: String, _ ports: [String: Int]) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
    return """
      \(getuid() == 0 ? "user root;" : "")
      worker_processes 1;
      pid \(folder)/pid;
      events { worker_connections 8192; }
      http {
        access_log off;
        sendfile on;
        tcp_nopush on;
        open_file_cache max=10;
        keepalive_requests 1000000000;
        types { image/jpeg jpg; }
        \(temporary.joined(separator: "\n  "))
        server {
          listen 127.0.0.1:\(ports["plain"] ?? 0) backlog=1024;
          listen 127.0.0.1:\(ports["http2"] ?? 0) ssl http2 backlog=1024;
          ssl_certificate \(folder)/good.pem;
          ssl_certificate_key \(folder)/good.key;
          root \(folder)/www;
          location /status { stub_status; }
        }
      }
      """
  }
}
