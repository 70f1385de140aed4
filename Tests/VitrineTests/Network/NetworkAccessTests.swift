import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Without a network, or with one that costs.
@Suite(.patient)
struct NetworkAccessTests {
  private let parts = PipelineParts()
  private let access = Lock(NetworkAccess.full)
  private let asked = Counter()
  private let url = "https://example.org/a.png"
  private let file = TestPicture.png

  private var request: ImageRequest { ImageRequest(url: url) }

  private func makePipeline() -> ImagePipeline {
    .testing(parts) { [access, asked] in
      $0.remembersFailures = true
      $0.networkAccess = {
        asked.increase()
        return access.withLock { $0 }
      }
    }
  }

  private func serve(_ control: String = "max-age=60") {
    parts.loader.answer(url, with: file, headers: ["Cache-Control": control, "ETag": "\"a\""])
  }

  private func set(_ now: NetworkAccess) { access.withLock { $0 = now } }

  @Test
  func byDefaultThereIsAllOfIt() {
    _ = ImagePipeline(.ephemeral) { #expect($0.networkAccess() == .full) }
    #expect(request.allowsExpensiveNetworkAccess)
  }

  @Test
  func withoutANetworkNothingIsSentAndTheErrorSaysWhy() async throws {
    let pipeline = makePipeline()
    set(.offline("aeroplane mode"))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    #expect(error?.code == .offline)
    #expect(error?.stage == .fetch)
    #expect(error?.source == url)
    #expect(error?.detail == "there is no network: aeroplane mode")
    #expect(parts.loader.counts.loads == 0)
    // It says nothing of the address.
    set(.full)
    serve()
    #expect(try await pipeline.image(for: request).width == 64)
  }

  @Test
  func withoutANetworkWhatIsStoredIsServedHoweverOld() async throws {
    serve()
    let first = makePipeline()
    _ = try await first.image(for: request)
    await first.cache.flush()
    set(.offline("no network"))
    // Fresh, it is nobody's business whether there is a network.
    let count = asked.count
    #expect(try await makePipeline().imageTask(for: request).response.isStale == false)
    #expect(asked.count == count)
    parts.clock.advance(by: .seconds(40 * 86_400))

    let fromMemory = try await first.imageTask(for: request).response
    #expect(fromMemory.isStale)
    let fromDisk = try await makePipeline().imageTask(for: request).response
    #expect(fromDisk.isStale)
    #expect(fromDisk.origin == .disk)
    #expect(parts.loader.counts.loads == 1)
    // With a network it is asked about, and too old to stand in.
    set(.full)
    #expect(try await first.imageTask(for: request).response.origin == .revalidated)
  }

  @Test
  func whoseServerWantsToBeAskedIsNotServedUnasked() async throws {
    serve("max-age=60, must-revalidate")
    let pipeline = makePipeline()
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    set(.offline("no network"))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    #expect(error?.code == .offline)
  }

  @Test
  func whatIsServedWhileItIsRevalidatedIsServedWithoutANetwork() async throws {
    serve("max-age=60, stale-while-revalidate=600")
    let pipeline = makePipeline()
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    set(.offline("no network"))
    #expect(try await pipeline.imageTask(for: request).response.isStale)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aNetworkThatCostsServesThoseWhoAllowIt() async throws {
    serve()
    let pipeline = makePipeline()
    set(.expensive("roaming"))
    var frugal = request
    frugal.allowsExpensiveNetworkAccess = false
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: frugal) }
    #expect(error?.code == .offline)
    #expect(error?.detail.hasSuffix("roaming") == true)
    #expect(parts.loader.counts.loads == 0)
    #expect(try await pipeline.image(for: request).width == 64)
    #expect(parts.loader.counts.loads == 1)
    await pipeline.cache.flush()
    // What the other one has brought is there for both, also when it is stale.
    parts.clock.advance(by: .seconds(61))
    #expect(try await pipeline.imageTask(for: frugal).response.isStale)
    #expect(parts.loader.counts.loads == 1)
    set(.full)
    #expect(try await pipeline.imageTask(for: frugal).response.isStale == false)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func whoDoesNotAllowItDoesNotSpoilItForWhoDoes() async throws {
    let pipeline = makePipeline()
    set(.expensive("roaming"))
    var frugal = request
    frugal.allowsExpensiveNetworkAccess = false
    let (first, second) = (pipeline.imageTask(for: frugal), pipeline.imageTask(for: request))
    await #expect(throws: LoadError.self) { try await first.image }
    try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file))
    #expect(try await second.image.width == 64)
  }
}
