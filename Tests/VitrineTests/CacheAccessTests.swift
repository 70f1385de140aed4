import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What a request says of the caches holds, whatever else is asked at the same time and wherever things are.
///
/// How often each cache is used for one image is counted by `ExactCountTests`.
@Suite(.patient)
struct CacheAccessTests {
  private static let url = "https://example.org/a.png"
  private static let values = (UInt8(0)..<16).map { CacheAccess(rawValue: $0) }

  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let memory: MemoryCache<CachedImage>
  private let pipeline: ImagePipeline
  private let file: Data
  private let other: Data
  // Encoded once for hundreds of cases.
  private static let files = Result {
    try [64, 60].map { try Bitmap.testPattern(width: $0, height: 48).encoded(as: .png) }
  }

  init() throws {
    let files = try Self.files.get()
    (file, other) = (files[0], files[1])
    let memory = MemoryCache<CachedImage>(costLimit: 64 << 20, clock: parts.clock)
    self.memory = memory
    pipeline = .testing(parts) { [decoder] in
      $0.memoryCache = memory
      $0.decoders = DecoderRegistry([decoder])
      $0.storagePolicy = .both
    }
    answer(with: file)
  }

  private func answer(with file: Data, tag: String = "1", age: Int = 60) {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=\(age)", "ETag": "\"\(tag)\""])
  }

  private func request(_ caches: CacheAccess = .all, width: Double = 16) -> ImageRequest {
    var request = ImageRequest(url: Self.url, size: .pixels(width: width))
    request.cacheAccess = caches
    return request
  }

  /// The original and the image as shown.
  private func kept() async -> [Bool] {
    await pipeline.cache.flush()
    var kept: [Bool] = []
    for key in [request().fetchKey, request().imageKey] { kept.append(await parts.diskCache.contains(key)) }
    return kept
  }

  @Test
  func aRequestUsesAllThereIsUnlessTold() {
    #expect(ImageRequest(url: Self.url).cacheAccess == .all)
    #expect(CacheAccess.all == [.memoryReads, .memoryWrites, .diskReads, .diskWrites])
    #expect(CacheAccess.memory == [.memoryReads, .memoryWrites])
    #expect(CacheAccess.disk == [.diskReads, .diskWrites])
    #expect(CacheAccess.none.isEmpty)
    #expect(!request(.all).isSame(as: request(.memory)))
    #expect(request(.memory).isSame(as: request(.memory)))
  }

  // MARK: At once

  @Test(arguments: values, values)
  func twoAtOnceKeepWhatEachOfThemSays(first: CacheAccess, second: CacheAccess) async throws {
    parts.loader.removeAnswer(Self.url)
    let tasks = [first, second].map { caches in
      var request = request(caches)
      // So that both wait for bytes as soon as they are asked for.
      request.storagePolicy = .original
      return pipeline.imageTask(for: request)
    }
    // Who uses the disk alike waits for the same bytes.
    let count = first.intersection(.disk) == second.intersection(.disk) ? 1 : 2
    var loads: [FakeLoad] = []
    while loads.count < count { loads.append(try await parts.loader.nextLoad(of: Self.url)) }
    for load in loads { load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file)) }
    for task in tasks { #expect(try await task.image.width == 16) }
    #expect(parts.loader.counts.loads == count)
    #expect(decoder.decodes.count == (first == second ? 1 : 2))

    let written = [first, second].filter { $0.contains(.memoryWrites) }
    #expect(memory.statistics.count == (written.isEmpty ? 0 : 1))
    #expect(await kept() == [[first, second].contains { $0.contains(.diskWrites) }, false])
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancellingOneOfTwoThatDifferLeavesTheOtherAlone() async throws {
    parts.loader.removeAnswer(Self.url)
    let (left, stays) = (pipeline.imageTask(for: request(.none)), pipeline.imageTask(for: request()))
    let loads = [try await parts.loader.nextLoad(of: Self.url), try await parts.loader.nextLoad(of: Self.url)]
    left.cancel()
    await parts.loader.wait { $0.cancelled == 1 }
    for load in loads where !load.status.isCancelled {
      load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file))
    }
    #expect(try await stays.image.width == 16)
    #expect(await kept() == [true, true])
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aCacheThatIsNotThereKeepsNoTwoApart() async throws {
    let pipeline = ImagePipeline.testing(parts) { [decoder] in
      ($0.memoryCache, $0.diskCache) = (nil, nil)
      $0.decoders = DecoderRegistry([decoder])
    }
    parts.loader.removeAnswer(Self.url)
    let tasks = Self.values.map { pipeline.imageTask(for: request($0)) }
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(with: FakeResponse(body: file))
    for task in tasks { _ = try await task.image }
    #expect(parts.loader.counts.loads == 1)
    #expect(decoder.decodes.count == 1)
    #expect(await pipeline.explain(request(.none)).unusedCaches.isEmpty)
  }

  // MARK: Memory

  @Test(arguments: values)
  func onlyWhoLooksInMemoryIsShownWhatIsThere(caches: CacheAccess) async throws {
    _ = try await pipeline.image(for: request(width: 32))
    _ = try await pipeline.image(for: request())
    let looks = caches.contains(.memoryReads)
    #expect((pipeline.cachedImage(for: request(caches)) != nil) == looks)
    #expect((pipeline.cachedVariant(for: request(caches)) != nil) == looks)
    #expect((pipeline.cachedVariant(for: request(caches, width: 8)) != nil) == looks)
    // Asked by name, the caches answer.
    #expect(pipeline.cache[request(caches)] != nil)
    #expect(await pipeline.cache.contains(request(caches), in: .memory))
    pipeline.cache[request(caches)] = nil
    #expect(pipeline.cachedImage(for: request()) == nil)
  }

  @Test
  @MainActor
  func aSlotShowsNothingOfAMemoryThatIsNotAsked() async throws {
    final class View: ImageDisplay {
      var log: [String] = []
      func show(_ content: ImageSlot.Content) {
        switch content {
        case .empty: log.append("empty")
        case .placeholder: log.append("placeholder")
        case .preview: log.append("preview")
        case .image(let response, _): log.append("image from \(response.origin)")
        case .failure: log.append("failure")
        }
      }
    }
    _ = try await pipeline.image(for: request())
    let mailbox = FrameMailbox.manual()
    let (slot, view) = (ImageSlot(pipeline: pipeline, mailbox: mailbox), View())
    slot.display = view
    parts.loader.removeAnswer(Self.url)
    slot.load(request(.none), placeholder: .cachedVariant(else: .symbol("image")))
    #expect(view.log == ["placeholder"])
    #expect(slot.isLoading)
    // It is another request, so that it begins anew, and this one is in memory.
    slot.load(request(), placeholder: .none)
    #expect(view.log == ["placeholder", "image from memory"])
    #expect(!slot.isLoading)
    #expect(pipeline.hold(request(.none)) == nil)
    #expect(pipeline.hold(request(.memoryReads)) != nil)
  }

  @Test
  func whatIsNotToBeKeptLeavesWhatIsThereUntilItsServerHasOtherBytes() async throws {
    for width in [16.0, 32] { _ = try await pipeline.image(for: request(width: width)) }
    _ = await kept()
    parts.clock.advance(by: .seconds(50))
    // The same bytes: what is there is good for longer, and nothing new is there.
    _ = try await pipeline.image(for: request([]))
    #expect(memory.statistics.count == 2)
    #expect(await kept() == [true, true])
    parts.clock.advance(by: .seconds(50))
    #expect(pipeline.cachedImage(for: request())?.isStale == false)

    answer(with: other, tag: "2")
    let renewed = try await pipeline.imageTask(for: request([])).response
    #expect(renewed.info.width == 60)
    #expect(memory.statistics.count == 0)
    _ = await kept()
    #expect(await parts.diskCache.entries().isEmpty)
    #expect(try await pipeline.imageTask(for: request()).response.info.width == 60)
  }

  @Test
  func anImageAsItIsShownGoesWithoutItsBytesToo() async throws {
    var request = request()
    request.storagePolicy = .finished
    _ = try await pipeline.image(for: request)
    #expect(await kept() == [false, true])
    answer(with: other, tag: "2")
    request.cacheAccess = .none
    _ = try await pipeline.image(for: request)
    #expect(await kept() == [false, false])
  }

  @Test
  func anImageInMemoryStandsInForAServerThatFailsOnlyIfItIsAskedFor() async throws {
    _ = try await pipeline.image(for: request())
    await pipeline.cache.removeAll(in: .disk)
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(Self.url, failing: .cannotConnect)
    #expect(try await pipeline.imageTask(for: request(.memoryReads)).response.isStale)
    await #expect(throws: LoadError.self) { try await pipeline.image(for: request(.memoryWrites)) }
  }

  @Test
  func aSourceThatIsNoAddressIsKeptInMemoryOnlyIfItMayBe() async throws {
    var request = ImageRequest(.data(file, id: "a"), size: .pixels(width: 16))
    request.cacheAccess = CacheAccess.all.subtracting(.memoryWrites)
    for _ in 0..<2 { #expect(try await pipeline.imageTask(for: request).response.origin == .local) }
    #expect(memory.statistics.count == 0)
    #expect(decoder.decodes.count == 2)
    request.cacheAccess = .memory
    for origin in [ImageResponse.Origin.local, .memory] {
      #expect(try await pipeline.imageTask(for: request).response.origin == origin)
    }
  }

  // MARK: The disk

  @Test(arguments: values)
  func dataIsLookedForAndKeptOnDiskAsTheRequestSays(caches: CacheAccess) async throws {
    let (reads, writes) = (caches.contains(.diskReads), caches.contains(.diskWrites))
    for _ in 0..<2 {
      #expect(try await pipeline.data(for: request(caches)) == file)
      _ = await kept()
    }
    #expect(await kept() == [writes, false])
    #expect(parts.loader.counts.loads == (reads && writes ? 1 : 2))
    #expect(parts.diskCache.counts.reads == (reads ? 2 : 0))
    #expect(memory.statistics.count == 0)
  }

  @Test
  func whoDoesNotLookOnDiskAsksWithoutACondition() async throws {
    _ = try await pipeline.image(for: request())
    _ = await kept()
    memory.removeAll()
    parts.clock.advance(by: .seconds(61))
    let response = try await pipeline.imageTask(for: request([.memory, .diskWrites])).response
    #expect(response.origin == .network)
    #expect(parts.loader.requests.last?.headers["If-None-Match"] == nil)
    // It took the place of what was stale.
    memory.removeAll()
    _ = await kept()
    #expect(try await pipeline.imageTask(for: request()).response.origin == .disk)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func whatIsConfirmedIsNotWrittenWhereNothingIsToBe() async throws {
    _ = try await pipeline.image(for: request())
    _ = await kept()
    parts.clock.advance(by: .seconds(61))
    let response = try await pipeline.imageTask(for: request([.diskReads])).response
    #expect(response.origin == .revalidated)
    #expect(parts.loader.requests.last?.headers["If-None-Match"] == "\"1\"")
    _ = await kept()
    #expect(parts.diskCache.counts.renewals == 0)
    // In memory it was said that it is the same still.
    #expect(pipeline.cachedImage(for: request())?.isStale == false)
  }

  @Test
  func onlyInTheCacheMeansInThoseThatMayBeAsked() async throws {
    _ = try await pipeline.image(for: request())
    _ = await kept()
    for caches in Self.values {
      var request = request(caches)
      request.cachePolicy = .cacheOnly
      let origin = try? await pipeline.imageTask(for: request).response.origin
      let expected: ImageResponse.Origin? =
        caches.contains(.memoryReads) ? .memory : caches.contains(.diskReads) ? .disk : nil
      #expect(origin == expected, "\(caches)")
    }
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func failuresAreRememberedWhateverIsKept() async throws {
    let pipeline = ImagePipeline.testing(parts) { $0.remembersFailures = true }
    parts.loader.answer(Self.url, FakeResponse(status: 404))
    for _ in 0..<2 { await #expect(throws: LoadError.self) { try await pipeline.image(for: request(.none)) } }
    #expect(parts.loader.counts.loads == 1)
    await pipeline.cache.flush()
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func aDownloadThatIsNotToBeKeptDoesNotGoOnForNobody() async throws {
    parts.loader.removeAnswer(Self.url)
    for (caches, goesOn) in [(CacheAccess.all, true), ([.memory, .diskReads], false)] {
      var request = request(caches)
      request.continuesDownload = true
      let task = pipeline.imageTask(for: request)
      let load = try await parts.loader.nextLoad(of: Self.url)
      task.cancel()
      if goesOn {
        await load.wait { $0.priority == .veryLow }
        #expect(!load.status.isCancelled)
        load.fail(.connectionLost)
      } else {
        await load.wait { $0.isCancelled }
      }
    }
  }

  @Test
  func whatIsServedStaleIsRenewedOnlyWhereItMayBe() async throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\""]
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await pipeline.image(for: request())
    _ = await kept()
    memory.removeAll()
    parts.clock.advance(by: .seconds(61))
    for renewals in 0...1 {
      let response = try await pipeline.imageTask(for: request(renewals == 0 ? [.diskReads] : .disk)).response
      #expect(response.origin == .disk && response.isStale)
      await parts.loader.wait { $0.loads == renewals + 2 && $0.running == 0 }
      try await until { pipeline.loadCount == 0 }
      _ = await kept()
      #expect(parts.diskCache.counts.renewals == renewals)
      #expect(memory.statistics.count == 0)
    }
  }

  // MARK: Loaded ahead

  @Test(arguments: [ImagePrefetcher.Destination.memory, .disk], values)
  func whatCouldBeKeptNowhereIsNotLoadedAhead(to destination: ImagePrefetcher.Destination, caches: CacheAccess) async {
    let prefetcher = ImagePrefetcher(pipeline, destination: destination)
    let results = await prefetcher.load([request(caches), ImageRequest(url: "no address")])
    let targets: CacheAccess = destination == .memory ? [.memoryWrites, .diskWrites] : .diskWrites
    let isLoaded = !caches.isDisjoint(with: targets)
    #expect(throws: Never.self) { try results[0].get() }
    #expect(throws: LoadError.self) { try results[1].get() }
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(completed: 1, failed: 1))
    #expect(parts.loader.counts.loads == (isLoaded ? 1 : 0))
    #expect(memory.statistics.count == (destination == .memory && caches.contains(.memoryWrites) ? 1 : 0))
    #expect(await kept()[0] == (isLoaded && caches.contains(.diskWrites)))
    #expect(decoder.decodes.count == (isLoaded && destination == .memory ? 1 : 0))
  }

  @Test
  func aPrefetcherKeepsRequestsApartThatUseTheCachesOtherwise() async {
    let prefetcher = ImagePrefetcher(pipeline, destination: .disk)
    let results = await prefetcher.load([request(.none), request(.all), request(.none)])
    for result in results { #expect(throws: Never.self) { try result.get() } }
    #expect(prefetcher.statistics.completed == 2)
    #expect(await kept() == [true, false])
  }

  // MARK: Explained

  @Test(arguments: values)
  func whatIsExplainedIsWhatThenHappens(caches: CacheAccess) async throws {
    _ = try await pipeline.image(for: request(width: 32))
    _ = await kept()
    for width in [32.0, 16] {
      let explanation = await pipeline.explain(request(caches, width: width))
      let (loads, decodes) = (parts.loader.counts.loads, decoder.decodes.count)
      let response = try await pipeline.imageTask(for: request(caches, width: width)).response
      #expect(explanation.origin == response.origin, "\(explanation)")
      #expect(parts.loader.counts.loads - loads == (explanation.transfer == .none ? 0 : 1), "\(explanation)")
      #expect(decoder.decodes.count - decodes == (explanation.decodes == true ? 1 : 0), "\(explanation)")
      #expect(explanation.unusedCaches == CacheAccess.all.subtracting(caches))
      _ = await kept()
    }
  }

  @Test
  func itIsSaidWhatIsNotAskedAndNotKept() async {
    #expect(
      await pipeline.explain(request([.memoryReads])).description == """
        https://example.org/a.png: fetched from the server (nothing stored); decoded
          policy: standard
          in memory: no
          on disk: skipped (excluded by the request)
          stored in memory: no (excluded by the request)
          stored on disk: no (excluded by the request)
        """
    )
    var local = ImageRequest(.data(file, id: "a"))
    local.cacheAccess = .none
    #expect(
      await pipeline.explain(local).description == """
        data 'a': from a local source; decoded
          policy: standard
          in memory: skipped (excluded by the request)
          stored in memory: no (excluded by the request)
        """
    )
  }
}
