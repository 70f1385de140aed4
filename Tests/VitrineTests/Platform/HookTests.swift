import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Hooks and guards of a pipeline.
@Suite(.patient)
struct PipelineHookTests {
  private let parts = PipelineParts()
  private let url = "https://example.org/a.png"
  private let file = TestPicture.png

  private var request: ImageRequest { ImageRequest(url: url) }

  private struct Refused: Error {}

  // MARK: Before sending

  @Test
  func aRequestIsSentAsTheHookHasChangedIt() async throws {
    let pipeline = ImagePipeline.testing(parts) {
      $0.willSend = { request in
        await Task.yield()
        request.headers["Authorization"] = "signed"
      }
    }
    parts.loader.answer(url, with: file)
    #expect(try await pipeline.image(for: request).width == 64)
    #expect(parts.loader.requests.map { $0.headers["Authorization"] } == ["signed"])
  }

  @Test
  func eachAttemptIsSignedForItself() async throws {
    let signatures = Counter()
    let pipeline = ImagePipeline.testing(parts) {
      $0.retryPolicy = .exponential(random: { 0 })
      $0.willSend = { request in
        signatures.increase()
        request.headers["X-Signature"] = "\(signatures.count)"
      }
    }
    let task = pipeline.imageTask(for: request)
    try await parts.loader.nextLoad(of: url).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .zero)
    try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 64)
    #expect(parts.loader.requests.map { $0.headers["X-Signature"] } == ["1", "2"])
  }

  @Test
  func aHookThatThrowsSendsNothingAndIsNamed() async {
    let pipeline = ImagePipeline.testing(parts) {
      $0.remembersFailures = true
      $0.willSend = { _ in throw Refused() }
    }
    for _ in 0..<2 {
      let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
      #expect(error?.code == .fetchFailed)
      #expect(error?.cause is Refused)
      #expect(error?.detail.hasPrefix("the hook before sending threw: Refused") == true)
    }
    #expect(parts.loader.counts.loads == 0)
    #expect(parts.loader.counts.preparing == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancelledDuringTheHookNothingIsSent() async throws {
    let (gate, asked) = (Gate(), Gate())
    let pipeline = ImagePipeline.testing(parts) {
      $0.willSend = { _ in
        asked.open()
        await gate.value()
      }
    }
    let task = pipeline.imageTask(for: request)
    await asked.value()
    task.cancel()
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.isCancellation == true)
    // The task ends first, and then the loader is told.
    await parts.loader.wait { $0.preparing == 0 && $0.cancelled == 1 }
    gate.open()
    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.loadCount == 0)
  }

  /// A loader that does not learn of a cancellation before the hook has ended.
  private struct DeafLoader: DataLoader {
    let inner: FakeLoader
    let ended = Deferred<Void>()

    private final class Sink: LoadSink {
      let (inner, ended): (any LoadSink, Deferred<Void>)

      init(_ inner: any LoadSink, _ ended: Deferred<Void>) { (self.inner, self.ended) = (inner, ended) }

      var hooks: LoadHooks { inner.hooks }

      func begin() { inner.begin() }

      func receive(_ response: HTTPResponse) -> LoadFlow { inner.receive(response) }

      func receive(_ bytes: RawSpan) -> LoadFlow { inner.receive(bytes) }

      func finish(_ error: HTTPError?) {
        inner.finish(error)
        ended.resolve(())
      }
    }

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      inner.load(request, into: Sink(sink, ended))
      return NoLoadHandle()
    }
  }

  @Test
  func cancelledDuringTheHookNothingIsSentEvenIfTheLoaderLearnsOfItTooLate() async throws {
    let loader = DeafLoader(inner: parts.loader)
    let (gate, asked) = (Gate(), Gate())
    let pipeline = ImagePipeline.testing(parts) {
      $0.loader = loader
      $0.willSend = { _ in
        asked.open()
        await gate.value()
      }
    }
    parts.loader.answer(url, with: file)
    let task = pipeline.imageTask(for: request)
    await asked.value()
    task.cancel()
    gate.open()
    await loader.ended.value()
    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.loadCount == 0)
  }

  /// Of one host two may be sent at once; both are in their hook when they are cancelled.
  @Test
  func cancelledDuringTheHookItsSlotIsFree() async throws {
    let server = try LoopbackServer()
    server.route("*", LoopbackResponse(body: file))
    let loader = PatientLoader(makeLoader { $0.connectionLimitPerHost = 2 })
    let (gate, asked) = (Gate(), Counter())
    let pipeline = ImagePipeline.testing(parts) {
      $0.loader = loader
      $0.willSend = { request in
        guard request.url.string.contains("/slow") else { return }
        asked.increase()
        await gate.value()
      }
    }
    let tasks = (1...2).map { pipeline.imageTask(for: ImageRequest(url: server.url("/slow\($0)"))) }
    await asked.reaches(2)
    let other = pipeline.imageTask(for: ImageRequest(url: server.url("/other")))
    for task in tasks { task.cancel() }
    #expect(try await other.image.width == 64)
    gate.open()
    #expect(server.requests.map(\.path) == ["/other"])
    #expect(pipeline.loadCount == 0)
  }

  // MARK: Challenges

  @Test
  func aChallengeIsAnsweredOnceForAllWhoWait() async throws {
    let pipeline = ImagePipeline.testing(parts) {
      $0.challenge = { challenge in
        #expect(challenge.response.headers["WWW-Authenticate"] == "Bearer")
        return ["Authorization": "Bearer \(challenge.previousAnswers)"]
      }
    }
    let refusal = FakeResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"], body: Data("who are you?".utf8))
    let tasks = [8.0, 16].map { side in
      var request = ImageRequest(url: url, size: .pixels(side, side))
      // So that both wait for the bytes as soon as they are asked for.
      request.storagePolicy = .original
      return pipeline.imageTask(for: request)
    }
    // Answered once both wait.
    let first = try await parts.loader.nextLoad(of: url)
    parts.loader.answer(url) { [file] request in
      request.headers["Authorization"] == "Bearer 1" ? FakeResponse(body: file) : refusal
    }
    first.respond(with: refusal)
    for task in tasks { _ = try await task.image }
    #expect(parts.loader.requests.map { $0.headers["Authorization"] } == [nil, "Bearer 0", "Bearer 1"])
    await parts.loader.wait { $0.running == 0 }
  }

  @Test
  func cancelledWhileItIsAnsweredNothingMoreIsSentEvenIfTheLoaderLearnsOfItTooLate() async throws {
    let loader = DeafLoader(inner: parts.loader)
    let (gate, asked) = (Gate(), Gate())
    let pipeline = ImagePipeline.testing(parts) {
      $0.loader = loader
      $0.challenge = { _ in
        asked.open()
        await gate.value()
        return ["Authorization": "Bearer 0"]
      }
    }
    parts.loader.answer(url, FakeResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"]))
    let task = pipeline.imageTask(for: request)
    await asked.value()
    task.cancel()
    gate.open()
    await loader.ended.value()
    #expect(parts.loader.requests.count == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test(arguments: [true, false])
  func aChallengeThatNobodyMeetsIsTheError(isThrown: Bool) async throws {
    let pipeline = ImagePipeline.testing(parts) {
      $0.challenge = { _ in
        if isThrown { throw Refused() }
        return nil
      }
    }
    parts.loader.answer(url, FakeResponse(status: 401))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    if isThrown {
      #expect(error?.cause is Refused)
    } else {
      #expect(error?.status == 401)
    }
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
    await parts.loader.wait { $0.running == 0 }
  }

  @Test
  func cancelledWhileAChallengeIsAnsweredNothingMoreIsSent() async throws {
    let (gate, asked) = (Gate(), Gate())
    let pipeline = ImagePipeline.testing(parts) {
      $0.challenge = { _ in
        asked.open()
        await gate.value()
        return ["Authorization": "late"]
      }
    }
    parts.loader.answer(url, FakeResponse(status: 401))
    let task = pipeline.imageTask(for: request)
    await asked.value()
    task.cancel()
    await parts.loader.wait { $0.running == 0 && $0.cancelled == 1 }
    gate.open()
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  // MARK: The address guard

  @Test(arguments: [
    "http://127.0.0.1/a.png", "http://0x7f.1/a", "https://[::ffff:10.0.0.1]/", "https://a.example:8080/",
  ])
  func whatTheAddressTellsIsRefusedWithoutAsking(url: String) async {
    let pipeline = ImagePipeline.testing(parts) { $0.addressGuard = AddressGuard() }
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: url)) }
    #expect(error?.code == .forbidden)
    #expect(error?.stage == .request)
    #expect(error?.source == url)
    #expect(error?.detail.hasPrefix("the address guard") == true)
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func thePipelinesOwnLoaderIsGuardedOnEachRedirectToo() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse.redirect(to: "http://10.0.0.1:\(server.port)/secret"))
    var addressGuard = AddressGuard()
    addressGuard.ports = nil
    addressGuard.allowed = [try #require(IPNetwork("127.0.0.0/8"))]
    let pipeline = ImagePipeline(.ephemeral) {
      $0.diskCache = nil
      $0.addressGuard = addressGuard
    }
    let redirected = await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: server.url("/a")))
    }
    #expect(redirected?.code == .forbidden)
    #expect(redirected?.stage == .fetch)
    #expect(redirected?.source == server.url("/a"))
    #expect(redirected?.detail.contains("10.0.0.1") == true)
    #expect(server.counts.requests == 1)
  }

  @Test
  func whatANameMeansIsCheckedByThePipelinesOwnLoader() async throws {
    let server = try LoopbackServer()
    var addressGuard = AddressGuard()
    addressGuard.ports = nil
    let pipeline = ImagePipeline(.ephemeral) { $0.addressGuard = addressGuard }
    let address = "http://localhost:\(server.port)/a"
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: address)) }
    #expect(error?.code == .forbidden)
    #expect(error?.source == address)
    #expect(server.counts.connections == 0)
  }

  @Test
  func aLoaderThatDoesNotObeyTheGuardLoadsNothing() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: file))
    var addressGuard = AddressGuard()
    addressGuard.ports = nil
    addressGuard.allowed = [try #require(IPNetwork("127.0.0.0/8"))]
    for isGuarded in [false, true] {
      let loader = PatientLoader(makeLoader { $0.addressGuard = isGuarded ? addressGuard : nil })
      let pipeline = ImagePipeline(.ephemeral) {
        $0.loader = loader
        $0.addressGuard = addressGuard
      }
      let request = ImageRequest(url: server.url("/a"))
      guard !isGuarded else {
        #expect(try await pipeline.image(for: request).width == 64)
        continue
      }
      let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
      #expect(error?.code == .forbidden)
      #expect(error?.detail.contains("guard") == true)
      #expect(server.counts.connections == 0)
    }
  }
}
