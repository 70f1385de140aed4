import Foundation
import Testing
import VitrineHTTP
import VitrineTestSupport
import VitrineTesting

/// A real server with certificates of its own, for all tests of a run; it ends with the process that started it.
///
/// Without nginx or openssl there is none, and the tests that want it are skipped.
final class Nginx: Sendable {
  /// The listeners, one after the other.
  enum Listener: Int, CaseIterable {
    case plain, http2, tls, expired, wrongHost, clientCertificate
  }

  static let program = ServerProcess.find("nginx")
  static let isInstalled = program != nil && ServerProcess.find("openssl") != nil
  /// Nil where it did not start, which the tests that want it report.
  static let shared: Nginx? = {
    // A port may be taken just before the server takes it.
    for _ in 0..<5 where isInstalled {
      if let nginx = try? Nginx() { return nginx }
    }
    return nil
  }()

  static let file = bytes(50_000)

  let folder: String
  private let ports: [Int]
  private let process: ServerProcess

  /// The certificate that the server's are signed with.
  var authority: String { "\(folder)/ca.pem" }

  private init() throws {
    folder = NSTemporaryDirectory() + "vitrine-nginx-\(UUID().uuidString)"
    ports = try ServerProcess.freePorts(Listener.allCases.count)
    try FileManager.default.createDirectory(atPath: folder + "/www", withIntermediateDirectories: true)
    try Self.file.write(to: URL(filePath: folder + "/www/file"))
    try Data("me:{PLAIN}secret\n".utf8).write(to: URL(filePath: folder + "/passwords"))
    try Data(Self.configuration(folder, ports).utf8).write(to: URL(filePath: folder + "/nginx.conf"))
    process = try ServerProcess(Self.script, [folder, Self.program ?? ""])
  }

  func url(_ path: String, _ listener: Listener = .plain) -> String {
    let host = listener == .plain ? "127.0.0.1" : "localhost"
    return "\(listener == .plain ? "http" : "https")://\(host):\(ports[listener.rawValue])\(path)"
  }

  /// A loader that trusts this server's certificates.
  func makeLoader(_ change: (inout CurlLoader.Options) -> Void = { _ in }) -> CurlLoader {
    VitrineTestSupport.makeLoader {
      $0.certificateFile = authority
      change(&$0)
    }
  }

  /// Makes the certificates, starts the server, says so, and ends it with its own input.
  private static let script = #"""
    set -e
    cd "$1"
    key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
    key ca
    openssl req -x509 -new -key ca.key -days 30 -subj "/CN=Vitrine tests" -out ca.pem
    certify() { # name, host, further arguments
      name=$1 host=$2
      shift 2
      key "$name"
      openssl req -new -key "$name.key" -subj "/CN=$host" -out "$name.csr"
      echo "subjectAltName=DNS:$host" >"$name.ext"
      openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$name.ext" -out "$name.pem" "$@"
    }
    certify good localhost -days 30
    certify expired localhost -days -1
    certify other other.example -days 30
    certify client client.example -days 30
    "$2" -c "$1/nginx.conf" -e "$1/error.log"
    echo ready
    read -r _ || true
    "$2" -c "$1/nginx.conf" -e "$1/error.log" -s stop
    rm -rf "$1"
    """#

  private static func configuration(_ folder: String, _ ports: [Int]) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
    func server(_ listener: Listener, _ options: String, _ certificate: String? = nil, _ more: String = "") -> String {
      let tls = certificate.map { "ssl_certificate \(folder)/\($0).pem; ssl_certificate_key \(folder)/\($0).key;" }
      return """
        server {
          listen 127.0.0.1:\(ports[listener.rawValue]) \(options);
          \(tls ?? "") \(more)
          root \(folder)/www;
          location / { }
          location /private { auth_basic a; auth_basic_user_file \(folder)/passwords; alias \(folder)/www/file; }
          location /from { return 302 /file; }
          location /downgrade { return 302 http://127.0.0.1:\(ports[0])/file; }
        }

        """
    }
    return """
      \(getuid() == 0 ? "user root;" : "")
      worker_processes 1;
      pid \(folder)/pid;
      events { worker_connections 512; }
      http {
        access_log off;
        gzip on;
        gzip_types *;
        ssl_session_cache shared:a:1m;
        keepalive_requests 1000000;
        # On a busy machine a test may pause for long.
        keepalive_timeout 1h;
        client_header_timeout 1h;
        add_header X-Connection $connection;
        add_header X-Session $ssl_session_reused;
        \(temporary.joined(separator: "\n  "))
        \(server(.plain, ""))
        \(server(.http2, "ssl http2", "good"))
        \(server(.tls, "ssl", "good"))
        \(server(.expired, "ssl", "expired"))
        \(server(.wrongHost, "ssl", "other"))
        \(server(.clientCertificate, "ssl", "good", "ssl_client_certificate \(folder)/ca.pem; ssl_verify_client on;"))
      }
      """
  }
}
