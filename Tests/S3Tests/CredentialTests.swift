import Foundation
import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineS3

@Suite
struct CredentialTests {
  private func load(
    _ source: S3CredentialSource,
    _ clock: any TimeSource = FixedClock(exampleDay),
  ) async throws(S3Error)
    -> S3Credentials?
  {
    try await CredentialStore(source, clock).current()
  }

  private func file(_ text: String) throws -> String {
    let path = NSTemporaryDirectory() + "vitrine-s3-\(UUID().uuidString)"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test
  func theEnvironmentComesBeforeTheFile() async throws {
    let path = try file("[default]\naws_access_key_id = F\naws_secret_access_key = S\n")
    defer { try? FileManager.default.removeItem(atPath: path) }
    var environment = [
      "AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T",
      "AWS_SHARED_CREDENTIALS_FILE": path,
    ]
    #expect(
      try await load(.environment(environment))
        == S3Credentials(accessKeyID: "E", secretAccessKey: "S", sessionToken: "T")
    )
    environment["AWS_ACCESS_KEY_ID"] = ""
    #expect(try await load(.environment(environment)) == S3Credentials(accessKeyID: "F", secretAccessKey: "S"))
  }

  @Test
  func aProfileOfTheFileIsRead() async throws {
    let text = """
      # a comment
      [default]
      aws_access_key_id=D
      ; another
      [ fleet ]
        nested = x
      AWS_Access_Key_Id =  A/+=
      aws_secret_access_key = s=e c
      aws_session_token=T
      no value here
      """
    let path = try file(text)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let environment = ["AWS_PROFILE": "fleet", "AWS_SHARED_CREDENTIALS_FILE": path]
    #expect(
      try await load(.environment(environment))
        == S3Credentials(accessKeyID: "A/+=", secretAccessKey: "s=e c", sessionToken: "T")
    )
    #expect(
      try await s3Failure { () throws(S3Error) in try await load(.file(path)) }.detail.contains("has no access key")
    )
    let missing = try await s3Failure { () throws(S3Error) in try await load(.file(path, profile: "nobody")) }
    #expect(missing.code == .missingCredentials && missing.detail.contains("no profile 'nobody'"))
  }

  @Test
  func whatCannotBeHadIsAnErrorThatSaysWhy() async throws {
    #expect(try await s3Failure { () throws(S3Error) in try await load(.environment([:])) }.code == .missingCredentials)
    let unreadable = try await s3Failure { () throws(S3Error) in try await load(.file("/nonexistent/credentials")) }
    #expect(unreadable.detail.contains("/nonexistent/credentials"))
    let broken = S3Credentials(accessKeyID: "A\r\nX: y", secretAccessKey: "hush")
    let refused = try await s3Failure { () throws(S3Error) in try await load(.fixed(broken)) }
    #expect(refused.code == .missingCredentials && !refused.description.contains("hush"))
    #expect(try await load(.anonymous) == nil)
  }

  @Test
  func regionAndEndpointComeFromTheEnvironmentOrTheProfile() throws {
    let path = try file(
      "[default]\nregion = eu-north-1\n[profile far]\nregion = ap-east-1\nendpoint_url = http://f.invalid\n"
    )
    defer { try? FileManager.default.removeItem(atPath: path) }
    func configuration(_ more: [String: String]) throws(S3Error) -> S3Configuration {
      try S3Configuration(environment: ["AWS_CONFIG_FILE": path].merging(more) { $1 })
    }
    #expect(try configuration([:]).region == "eu-north-1")
    #expect(try configuration(["AWS_DEFAULT_REGION": "eu-west-3"]).region == "eu-west-3")
    #expect(try configuration(["AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "eu-west-3"]).region == "eu-west-2")
    let far = try configuration(["AWS_PROFILE": "far"])
    #expect(far.region == "ap-east-1" && far.endpoint?.string == "http://f.invalid/")
    let urls = ["AWS_ENDPOINT_URL": "http://a.invalid", "AWS_ENDPOINT_URL_S3": "http://b.invalid"]
    #expect(try configuration(urls).endpoint?.string == "http://b.invalid/")
    #expect(throws: S3Error.self) { try configuration(["AWS_REGION": "x.evil.invalid/"]) }
    #expect(throws: S3Error.self) { try configuration(["AWS_ENDPOINT_URL": "ftp://a.invalid"]) }
    #expect(throws: S3Error.self) { try configuration(["AWS_ENDPOINT_URL": "http://a.invalid/?q"]) }
  }

  // MARK: Refreshing

  /// Credentials that a test provides, one call after the other.
  private final class Provider: Sendable {
    private let calls = Watched([Deferred<Result<S3Credentials, S3Error>>]())

    var source: S3CredentialSource {
      .refreshed {
        let call = Deferred<Result<S3Credentials, S3Error>>()
        self.calls.change { $0.append(call) }
        return try await call.value().get()
      }
    }

    var count: Int { calls.value.count }

    func call(_ number: Int) async throws -> Deferred<Result<S3Credentials, S3Error>> {
      await calls.wait { $0.count >= number }
      return try #require(calls.value.dropFirst(number - 1).first)
    }
  }

  private func keys(_ name: String, expires: Date?) -> S3Credentials {
    S3Credentials(accessKeyID: name, secretAccessKey: "s", expires: expires)
  }

  @Test(.patient)
  func allWhoWaitShareOneCall() async throws {
    let (provider, clock) = (Provider(), ManualClock())
    let store = CredentialStore(provider.source, clock)
    let waiters = (0..<50).map { _ in Task { try? await store.current() } }
    try await provider.call(1).resolve(.success(keys("A", expires: nil)))
    for waiter in waiters { #expect(await waiter.value?.accessKeyID == "A") }
    #expect(try await store.current()?.accessKeyID == "A")
    #expect(provider.count == 1)
  }

  @Test(.patient)
  func newOnesAreAskedForBeforeTheOldExpireAndNobodyWaits() async throws {
    let (provider, clock) = (Provider(), ManualClock())
    let store = CredentialStore(provider.source, clock)
    let first = Task { try await store.current() }
    try await provider.call(1).resolve(.success(keys("A", expires: clock.now.addingTimeInterval(3600))))
    #expect(try await first.value?.accessKeyID == "A")
    clock.advance(by: .seconds(3299))
    #expect(try await store.current()?.accessKeyID == "A")
    #expect(provider.count == 1)
    clock.advance(by: .seconds(1))
    // The call is under way, and the old ones serve.
    for _ in 0..<20 { #expect(try await store.current()?.accessKeyID == "A") }
    let second = try await provider.call(2)
    #expect(provider.count == 2)
    second.resolve(.success(keys("B", expires: clock.now.addingTimeInterval(3600))))
    try await until { try await store.current()?.accessKeyID == "B" }
    #expect(provider.count == 2)
  }

  @Test(.patient)
  func aFailedRefreshIsTriedAgainAfterAPauseAndCountsOnlyOnceTheOldOnesExpired() async throws {
    let (provider, clock) = (Provider(), ManualClock())
    let store = CredentialStore(provider.source, clock)
    let first = Task { try await store.current() }
    try await provider.call(1).resolve(.success(keys("A", expires: clock.now.addingTimeInterval(100))))
    #expect(try await first.value?.accessKeyID == "A")
    clock.advance(by: .seconds(11))
    #expect(try await store.current()?.accessKeyID == "A")
    try await provider.call(2).resolve(.failure(S3Error(.missingCredentials, "the role is away")))
    try await until { !store.isRefreshing }
    clock.advance(by: .seconds(89))
    // Expired, and the pause after the failure has passed.
    let late = Task { try await store.current() }
    try await provider.call(3).resolve(.failure(S3Error(.missingCredentials, "the role is still away")))
    await #expect(throws: S3Error.self) { try await late.value }
    // Within the pause the error is remembered.
    let error = try await s3Failure { () throws(S3Error) in try await store.current() }
    #expect(error.detail == "the role is still away")
    #expect(provider.count == 3)
  }
}
