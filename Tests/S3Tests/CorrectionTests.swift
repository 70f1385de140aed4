import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineS3

/// What servers say about a request that they refuse, and what is made of it.
@Suite(.patient)
struct CorrectionTests {
  private let server: FakeS3
  private let object = ObjectURL(bucket: "photos", key: "cat.jpg")
  private let cat = bytes(3000)

  init() throws {
    server = try FakeS3()
    server.state.withLock {
      $0.objects["/photos/cat.jpg"] = FakeS3.Stored(body: bytes(3000), fields: [:], tag: "\"v1\"")
    }
  }

  private func read(_ client: S3Client) async throws -> Data? {
    try await client.read(#require(object), within: .seconds(3600))?.body
  }

  private var scopes: [String] {
    server.server.requests.map { request in
      let text = request["Authorization"] ?? ""
      return text.split(separator: "/").dropFirst().prefix(2).joined(separator: "/")
    }
  }

  @Test(arguments: [
    FakeS3.refusal(400, "AuthorizationHeaderMalformed", region: "eu-west-1"),
    FakeS3.refusal(301, "PermanentRedirect", headers: ["x-amz-bucket-region": "eu-west-1"]),
    FakeS3.refusal(307, "TemporaryRedirect", headers: ["x-amz-bucket-region": "eu-west-1"]),
  ])
  func aBucketInAnotherRegionIsAskedThereFromThenOn(
    _ fault: @escaping @Sendable (LoopbackExchange) -> Void
  ) async throws {
    let client = try server.makeClient()
    server.fail(fault)
    #expect(try await read(client) == cat)
    #expect(try await read(client) == cat)
    #expect(scopes.map { $0.suffix(9) } == ["us-east-1", "eu-west-1", "eu-west-1"])
    // Another bucket may be elsewhere.
    _ = try? await client.read(#require(ObjectURL(bucket: "others", key: "a")), within: .seconds(3600))
    #expect(scopes.last?.hasSuffix("us-east-1") == true)
  }

  @Test
  func theRegionOfAHeadIsThatOfItsField() async throws {
    let client = try server.makeClient()
    server.fail(FakeS3.refusal(400, "", headers: ["x-amz-bucket-region": "eu-west-1"]))
    #expect(try await client.head(#require(object), within: .seconds(3600))?.contentLength == 3000)
  }

  @Test(arguments: ["us-east-1", "", "evil.invalid/", "EU"])
  func aRegionThatIsNoneOrNoOtherIsNotFollowed(region: String) async throws {
    let client = try server.makeClient()
    server.fail(FakeS3.refusal(400, "AuthorizationHeaderMalformed", region: region))
    let error = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(error.serviceCode == "AuthorizationHeaderMalformed" && error.code == .refused)
    #expect(server.server.counts.requests == 1)
  }

  @Test
  func twoRegionsThatNameEachOtherEndInAnError() async throws {
    let client = try server.makeClient()
    server.fail(
      FakeS3.refusal(301, "PermanentRedirect", region: "eu-west-1"),
      FakeS3.refusal(301, "PermanentRedirect", region: "us-east-1"),
    )
    let error = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(error.status == 301)
    #expect(server.server.counts.requests == 2)
  }

  @Test
  func aRedirectIsFollowedWithinTheServersOwnHosts() async throws {
    let client = try server.makeClient()
    server.fail(
      FakeS3.refusal(307, "TemporaryRedirect", headers: ["Location": server.server.url("/photos/cat.jpg")])
    )
    #expect(try await read(client) == cat)
    // Signed anew for the host that is asked.
    let signed = server.server.requests.map { $0["Authorization"] }
    #expect(signed.count == 2 && !signed.contains(nil))
  }

  @Test
  func aRedirectToAnotherPortIsAnErrorAndSendsNothingThere() async throws {
    let (client, other) = (try server.makeClient(), try FakeS3())
    other.state.withLock { $0.objects = server.state.withLock { $0.objects } }
    server.fail(
      FakeS3.refusal(307, "TemporaryRedirect", headers: ["Location": other.server.url("/photos/cat.jpg")])
    )
    let error = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(error.status == 307)
    #expect(other.server.counts.requests == 0)
  }

  @Test(arguments: ["http://elsewhere.invalid/photos/cat.jpg", "ftp://127.0.0.1/", "//elsewhere.invalid/", ""])
  func aRedirectToAStrangerIsAnErrorAndSendsNothingThere(location: String) async throws {
    let client = try server.makeClient()
    server.fail(FakeS3.refusal(307, "TemporaryRedirect", headers: ["Location": location]))
    let error = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(error.status == 307)
  }

  @Test
  func aWrongClockIsSetByTheServersOnce() async throws {
    let clock = ManualClock(now: exampleDay)
    let client = try server.makeClient(clock: clock)
    let skew = FakeS3.refusal(403, "RequestTimeTooSkewed", headers: ["Date": "Fri, 24 May 2013 06:00:00 GMT"])
    server.fail(skew)
    #expect(try await read(client) == cat)
    #expect(try await read(client) == cat)
    #expect(
      server.server.requests.map { $0["x-amz-date"] } == ["20130524T000000Z", "20130524T060000Z", "20130524T060000Z"]
    )
    // A server that is not content with its own time is not asked for ever.
    server.fail(skew)
    let error = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(error.serviceCode == "RequestTimeTooSkewed")
    #expect(server.server.counts.requests == 4)
  }

  @Test
  func expiredCredentialsAreReplacedOnce() async throws {
    let calls = Lock(0)
    let client = try server.makeClient {
      $0.credentials = .refreshed {
        let number = calls.withLock { calls in
          calls += 1
          return calls
        }
        return S3Credentials(accessKeyID: "K\(number)", secretAccessKey: "s", sessionToken: "t\(number)")
      }
    }
    #expect(try await read(client) == cat)
    // Those that have just come are not asked for again at once.
    server.fail(FakeS3.refusal(400, "ExpiredToken"))
    let early = try await s3Failure { () throws(S3Error) in
      try await client.read(ObjectURL(bucket: "photos", key: "cat.jpg")!, within: .seconds(3600))
    }
    #expect(early.serviceCode == "ExpiredToken" && calls.withLock { $0 } == 1)
  }

  @Test
  func aTokenThatExpiresLaterIsReplaced() async throws {
    let (clock, calls) = (ManualClock(), Lock(0))
    let client = try server.makeClient(clock: clock) {
      $0.credentials = .refreshed {
        let number = calls.withLock { calls in
          calls += 1
          return calls
        }
        return S3Credentials(accessKeyID: "K\(number)", secretAccessKey: "s", sessionToken: "t\(number)")
      }
    }
    #expect(try await read(client) == cat)
    clock.advance(by: .seconds(60))
    server.fail(FakeS3.refusal(400, "ExpiredToken"))
    #expect(try await read(client) == cat)
    #expect(server.server.requests.map { $0["x-amz-security-token"] } == ["t1", "t1", "t2"])
  }

  @Test
  func theRestOfAnObjectIsThatOfTheSameObject() async throws {
    let client = try server.makeClient()
    let loader = S3Loader(client, buckets: ["photos"], others: makeLoader())
    func load(_ tag: String) async throws -> (HTTPResponse, Data) {
      var request = HTTPRequest(try #require(object).standIn)
      request.headers = ["Range": "bytes=1000-", "If-Range": tag]
      return try await loader.data(for: request)
    }
    let (same, rest) = try await load("\"v1\"")
    #expect(same.status == 206 && rest == cat.dropFirst(1000))
    // S3 ignores If-Range, and would send a part of the new object.
    let (changed, whole) = try await load("\"v0\"")
    #expect(changed.status == 200 && whole == cat)
    let requests = server.server.requests
    #expect(requests.allSatisfy { $0["If-Range"] == nil })
    #expect(requests.map { $0["If-Match"] } == ["\"v1\"", "\"v0\"", nil])
    #expect(requests.map { $0["Range"] } == ["bytes=1000-", "bytes=1000-", nil])
  }

  @Test
  func anUnsignedRequestHasNoSignature() async throws {
    let client = try server.makeClient { $0.credentials = .anonymous }
    #expect(try await read(client) == cat)
    let request = try #require(server.server.requests.first)
    #expect(request["Authorization"] == nil && request["x-amz-date"] == nil)
  }

  @Test
  func aRefusalIsDeliveredWholeAndAPauseIsKept() async throws {
    let client = try server.makeClient()
    let loader = S3Loader(client, buckets: ["photos"], others: makeLoader())
    server.fail(FakeS3.refusal(403, "AccessDenied"))
    let sink = pausingSink()
    let handle = loader.load(HTTPRequest(try #require(object).standIn), into: sink)
    for count in 1...3 {
      await sink.wait { $0.count == count }
      handle.resume()
    }
    #expect(sink.events == [.head(403), .bytes(sink.byteCount), .end(nil)] && sink.byteCount > 0)
  }

  /// Makes a sink that pauses after all it gets.
  private func pausingSink() -> RecordingSink { RecordingSink(onHead: { .pause }, onBytes: { .pause }) }

  @Test
  func cancellingEndsTheLoadAtWhateverStage() async throws {
    let client = try server.makeClient()
    let loader = S3Loader(client, buckets: ["photos"], others: makeLoader())
    let gate = server.server.makeGate()
    let isHeld = Watched(false)
    server.fail(
      { exchange in
        isHeld.change { $0 = true }
        gate.wait()
        exchange.reset()
      },
      FakeS3.refusal(403, "AccessDenied"),
    )
    for stage in 0..<2 {
      let sink = pausingSink()
      let handle = loader.load(HTTPRequest(try #require(object).standIn), into: sink)
      if stage == 0 { await isHeld.wait { $0 } } else { await sink.wait { $0 == [.head(403)] } }
      handle.cancel()
      #expect(await sink.end() == .cancelled)
      gate.open()
    }
  }
}
