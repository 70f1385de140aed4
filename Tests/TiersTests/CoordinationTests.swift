import Dispatch
import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

/// Pipelines of several machines over one remote tier: they share entries, and the work to make them.
@Suite(.patient)
struct CoordinationTests {
  private static let url = "https://example.org/a.png"
  private static let plain = ImageRequest(url: url)
  private static let fresh: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

  private let remote = FakeRemoteCache()
  private let loader = FakeLoader()
  private let clock = ManualClock()
  private let file = TestPicture.png
  private let newer: Data
  private let request = ImageRequest(url: url, size: .pixels(16, 16))

  init() throws {
    newer = try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png)
  }

  /// Makes one machine, for which waiting for others takes real time, and freshness the test's.
  private func makeMachine(
    clock: (any TimeSource)? = nil,
    decoder: any ImageDecoder = PNGDecoder(),
    _ change: (inout WorkCoordination) -> Void = { _ in },
  ) -> ImagePipeline {
    var limits = TieredDataCache.RemoteLimits()
    limits.failureLimit = 1_000_000
    let cache = TieredDataCache([.local(CountingDataCache()), .remote(remote, limits: limits)], clock: self.clock)
    var coordination = WorkCoordination(cache)
    (coordination.maxWait, coordination.pauses) = (.seconds(600), .milliseconds(1) ... .milliseconds(5))
    change(&coordination)
    let parts = PipelineParts()
    return .testing(parts) {
      $0.memoryCache = nil
      $0.diskCache = cache
      $0.coordination = coordination
      $0.decoders = DecoderRegistry([decoder])
      $0.loader = loader
      $0.clock = clock ?? RealWaits(dates: self.clock)
    }
  }

  private var key: CacheKey {
    get async {
      let keys = remote.keys.union(remote.leasedKeys)
      return keys.min { $0.bytes.count < $1.bytes.count } ?? CacheKey(bytes: [])
    }
  }

  /// Makes a machine, and has another one hold the lease for its URL, whose key is told, too.
  private func makeMachineWhoseWorkIsTaken() async throws -> (machine: ImagePipeline, key: CacheKey) {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let machine = makeMachine()
    _ = try await machine.data(for: Self.plain)
    await machine.cache.flush()
    let key = await key
    await machine.cache.removeAll()
    remote.occupy(key)
    return (machine, key)
  }

  @Test
  func ofManyMachinesThatWantOneURLOneAsksTheServer() async throws {
    let machines = (0..<5).map { _ in makeMachine() }
    async let all = withThrowingTaskGroup(of: Data.self) { group in
      for machine in machines { group.addTask { try await machine.data(for: Self.plain) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let load = try await loader.nextLoad(of: Self.url)
    await remote.wait(forEnded: .acquire, count: 20)
    load.respond(status: 200, headers: Self.fresh)
    load.send(file)
    load.finish()
    #expect(try await all == Array(repeating: file, count: 5))
    #expect(loader.requests.count == 1)
    for machine in machines { await machine.cache.flush() }
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func anEncodedImageIsMadeOnceForAllSizesOneFetchIsEnough() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let machines = (0..<3).map { _ in makeMachine() }
    let images = try await withThrowingTaskGroup(of: EncodedImage.self) { group in
      for machine in machines {
        for side in [8, 16, 32] {
          let request = ImageRequest(url: Self.url, size: .pixels(Double(side), Double(side)))
          group.addTask { try await machine.encoded(for: request, as: .jpeg()) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(images.count == 9)
    #expect(Set(images.map(\.data)).count == 3)
    #expect(loader.requests.count == 1)
    for machine in machines { await machine.cache.flush() }
    #expect(remote.leasedKeys.isEmpty)
    // The original and three files; pixels do not travel.
    #expect(remote.keys.count == 4)
  }

  @Test
  func whoeverWaitsLongEnoughDoesTheWorkAlone() async throws {
    let (_, key) = try await makeMachineWhoseWorkIsTaken()
    let impatient = makeMachine { $0.maxWait = .milliseconds(20) }
    #expect(try await impatient.data(for: Self.plain) == file)
    #expect(loader.requests.count == 2)
    #expect(remote.leasedKeys == [key])
  }

  @Test
  func aHolderThatDiesCostsNoMoreThanItsLease() async throws {
    let (machine, _) = try await makeMachineWhoseWorkIsTaken()
    async let data = machine.data(for: Self.plain)
    await remote.wait(forEnded: .acquire, count: 5)
    #expect(loader.requests.count == 1)
    remote.expireLeases()
    #expect(try await data == file)
    #expect(loader.requests.count == 2)
  }

  @Test
  func whatFailsIsNotWaitedForByTheOthers() async throws {
    let machines = (0..<3).map { _ in makeMachine() }
    let failures = Watched(0)
    for machine in machines {
      Task {
        _ = try? await machine.data(for: Self.plain)
        failures.change { $0 += 1 }
      }
    }
    for _ in 0..<3 {
      let load = try await loader.nextLoad(of: Self.url)
      load.respond(status: 404)
      load.finish()
    }
    await failures.wait { $0 == 3 }
    for machine in machines { await machine.cache.flush() }
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func whatMustNotBeStoredIsFetchedByEach() async throws {
    loader.answer(Self.url, with: file, headers: ["Cache-Control": "no-store"])
    let machines = (0..<3).map { _ in makeMachine() }
    try await withThrowingTaskGroup(of: Data.self) { group in
      for machine in machines { group.addTask { try await machine.data(for: Self.plain) } }
      for try await data in group { #expect(data == file) }
    }
    #expect(loader.requests.count == 3)
    #expect(remote.keys.isEmpty)
  }

  @Test(arguments: [FakeRemoteCache.Condition.failing, .refusing])
  func withoutTheTierEachMachineWorksAlone(condition: FakeRemoteCache.Condition) async throws {
    remote.condition = condition
    loader.answer(Self.url, with: file, headers: Self.fresh)
    for machine in [makeMachine(), makeMachine()] {
      #expect(try await machine.data(for: Self.plain) == file)
      #expect(try await machine.data(for: Self.plain) == file)
    }
    #expect(loader.requests.count == 2)
  }

  @Test
  func aCallerThatLeavesEndsTheWaitAndTheLease() async throws {
    let machine = makeMachine()
    let task = Task { try await machine.data(for: Self.plain) }
    let load = try await loader.nextLoad(of: Self.url)
    #expect(remote.leasedKeys.count == 1)
    task.cancel()
    _ = await task.result
    await remote.wait(forEnded: .release)
    #expect(remote.leasedKeys.isEmpty)
    _ = load
  }

  @Test
  func aCallerThatLeavesBeforeTheBytesAreDecodedLeavesTheWorkToOthers() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let (begun, gate) = (Gate(), Gate())
    let machine = makeMachine(
      decoder: CountingDecoder { _ in
        begun.open()
        gate.wait()
      }
    )
    let task = Task { try await machine.encoded(for: request, as: .jpeg()) }
    await begun.value()
    #expect(remote.leasedKeys.count == 2)
    task.cancel()
    _ = await task.result
    gate.open()
    await remote.waitForNoLease()
    // Whoever waits need not work alone.
    #expect(remote.vainKeys.isEmpty)
    #expect(try await makeMachine().encoded(for: request, as: .jpeg()).width == 16)
  }

  @Test
  func whoeverIsCancelledStopsAsking() async throws {
    _ = try await makeMachineWhoseWorkIsTaken()
    // The clock stands still, so the machine waits after its first question.
    let waiting = ManualClock()
    let other = makeMachine(clock: waiting)
    let before = remote.count(of: .acquire)
    let task = Task { try await other.data(for: Self.plain) }
    await remote.wait(forEnded: .acquire, count: before + 1)
    task.cancel()
    _ = await task.result
    waiting.advance(by: .seconds(60))
    #expect(remote.count(of: .acquire) == before + 1)
  }

  // MARK: Freshness, as on one machine

  @Test
  func oneMachineRevalidatesForAll() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let machines = [makeMachine(), makeMachine()]
    for machine in machines { #expect(try await machine.encoded(for: request, as: .jpeg()).data.isEmpty == false) }
    #expect(loader.requests.count == 1)
    for machine in machines { await machine.cache.flush() }
    clock.advance(by: .seconds(70))
    loader.removeAnswer(Self.url)
    async let both = withThrowingTaskGroup(of: Bool.self) { group in
      for machine in machines { group.addTask { try await machine.data(for: Self.plain) == file } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // The first was answered at once, and is not waited for.
    var load = try await loader.nextLoad(of: Self.url)
    if load.request.headers["If-None-Match"] == nil { load = try await loader.nextLoad(of: Self.url) }
    #expect(load.request.headers["If-None-Match"] == "\"1\"")
    await remote.wait(forBegun: .acquire, count: 6)
    load.respond(status: 304, headers: ["Cache-Control": "max-age=60"])
    load.finish()
    #expect(try await both == [true, true])
    #expect(loader.requests.count == 2)
  }

  @Test
  func aNewVersionThatOneMachineHasSeenReplacesTheOldOneEverywhere() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let (one, other) = (makeMachine(), makeMachine())
    let old = try await one.encoded(for: request, as: .png())
    await one.cache.flush()
    #expect(try await other.encoded(for: request, as: .png()).data == old.data)
    clock.advance(by: .seconds(70))
    loader.answer(Self.url, with: newer, headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""])
    let new = try await one.encoded(for: request, as: .png())
    #expect(new.data != old.data)
    await one.cache.flush()
    // Its own copy is stale, so the other looks where the new one is.
    #expect(try await other.encoded(for: request, as: .png()).data == new.data)
    #expect(try await other.data(for: Self.plain) == newer)
  }

  @Test
  func whatAConfirmationForbidsToStoreIsSharedNoMore() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let machine = makeMachine()
    let first = try await machine.encoded(for: request, as: .png())
    await machine.cache.flush()
    #expect(remote.keys.count == 2)
    clock.advance(by: .seconds(70))
    let forbidden: HTTPFields = ["Cache-Control": "no-store", "ETag": "\"1\""]
    loader.answer(Self.url, FakeResponse(status: 304, headers: forbidden, body: Data()))
    #expect(try await machine.encoded(for: request, as: .png()).data == first.data)
    await machine.cache.flush()
    #expect(remote.keys.isEmpty)
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func aPurgeShutsOutLateWritesBeforeItRemovesTheOriginal() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let machine = makeMachine()
    _ = try await machine.encoded(for: request, as: .png())
    await machine.cache.flush()
    await machine.cache.remove(Self.plain)
    #expect(remote.calls.filter { $0 == .sweep || $0 == .erase } == [.sweep, .sweep, .erase])
    #expect(remote.keys.isEmpty)
  }

  /// The load from before has the lease, here or on another machine, and is not waited for.
  @Test(arguments: [false, true])
  func aRefreshedPictureIsFetchedAtOnce(fromElsewhere: Bool) async throws {
    let (machine, other) = (makeMachine(), makeMachine())
    let early = (fromElsewhere ? other : machine).dataTask(for: Self.plain)
    let before = try await loader.nextLoad(of: Self.url)
    await machine.refresh(Self.plain)
    let late = machine.dataTask(for: Self.plain)
    let load = try await loader.nextLoad(of: Self.url)
    load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], body: newer))
    #expect(try await late.response.data == newer)
    await machine.cache.flush()
    #expect(try await makeMachine().data(for: Self.plain) == newer)
    before.respond(with: FakeResponse(headers: Self.fresh, body: file))
    #expect(try await early.response.data == file)
    for machine in [machine, other] { await machine.cache.flush() }
    #expect(try await machine.data(for: Self.plain) == newer)
    #expect(loader.requests.count == 2)
    #expect(remote.leasedKeys.isEmpty)
  }

  /// An encoded file has a lease of its own, under which the bytes are fetched.
  @Test(arguments: [false, true])
  func aRefreshedPictureIsEncodedAtOnce(fromElsewhere: Bool) async throws {
    let (machine, other) = (makeMachine(), makeMachine())
    let early = (fromElsewhere ? other : machine).encodedTask(for: request, as: .png())
    let before = try await loader.nextLoad(of: Self.url)
    await machine.refresh(Self.plain)
    let late = machine.encodedTask(for: request, as: .png())
    let load = try await loader.nextLoad(of: Self.url)
    load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], body: newer))
    let new = try await late.response.data
    before.respond(with: FakeResponse(headers: Self.fresh, body: file))
    #expect(try await early.response.data != new)
    for machine in [machine, other] { await machine.cache.flush() }
    #expect(try await machine.encoded(for: request, as: .png()).data == new)
    #expect(loader.requests.count == 2)
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func noMachineServesFromTheTierLongerThanTheSourceIsFresh() async throws {
    loader.answer(Self.url, with: file, headers: Self.fresh)
    let one = makeMachine()
    _ = try await one.data(for: Self.plain)
    await one.cache.flush()
    clock.advance(by: .seconds(50))
    let other = makeMachine()
    #expect(try await other.data(for: Self.plain) == file)
    #expect(loader.requests.count == 1)
    clock.advance(by: .seconds(15))
    loader.answer(Self.url, with: newer, headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""])
    #expect(try await other.data(for: Self.plain) == newer)
  }
}

/// Dates of the test's clock, and waits of the system's.
private struct RealWaits: TimeSource {
  let dates: ManualClock

  var now: Date { dates.now }
  var uptime: Duration { SystemClock().uptime }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    SystemClock().schedule(after: delay, action)
  }
}
