import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What is explained is what then happens, wherever things are.
@Suite(.patient)
struct ExplainTests {
  private static let url = "https://example.org/a.png"

  /// What is in memory before the request.
  enum Memory: CaseIterable {
    case nothing, image, otherScopeOfIt, larger, prefix
  }

  struct Case: CustomStringConvertible, Sendable {
    let memory: Memory
    let hasFinished: Bool
    let hasOriginal: Bool
    /// What the server says of the image.
    let headers: HTTPFields
    /// How long ago that was.
    let age: Duration
    let hasChanged: Bool
    let policy: CachePolicy

    var description: String {
      "memory: \(memory), finished: \(hasFinished), original: \(hasOriginal), \(headers), \(age), changed: "
        + "\(hasChanged), \(policy)"
    }
  }

  private static func cases(_ memory: Memory) -> [Case] {
    let headers: [HTTPFields] = [
      ["Cache-Control": "max-age=60", "ETag": "\"1\""], ["Cache-Control": "max-age=60"],
      ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""],
      ["Cache-Control": "no-cache", "ETag": "\"1\""],
    ]
    let policies: [CachePolicy] = [.standard, .reload, .cacheFirst, .cacheOnly, .maxAge(.seconds(30))]
    var cases: [Case] = []
    for (hasFinished, hasOriginal) in [(false, false), (true, false), (false, true), (true, true)] {
      for headers in headers {
        for age in [Duration.seconds(10), .seconds(70), .seconds(1000)] {
          for policy in policies {
            for hasChanged in [false, true] {
              cases.append(
                Case(
                  memory: memory,
                  hasFinished: hasFinished,
                  hasOriginal: hasOriginal,
                  headers: headers,
                  age: age,
                  hasChanged: hasChanged,
                  policy: policy,
                )
              )
            }
          }
        }
      }
    }
    return cases
  }

  /// A pipeline in the state of a case, with everything counted.
  private struct Scene {
    let parts = PipelineParts()
    let decoder = CountingDecoder()
    let processor = Counter()
    let memory: MemoryCache<CachedImage>
    let pipeline: ImagePipeline
    let request: ImageRequest

    init(_ test: Case, _ file: Data, _ changed: Data) async throws {
      let (parts, decoder, processor) = (parts, decoder, processor)
      let memory = MemoryCache<CachedImage>(costLimit: 64 << 20, clock: parts.clock)
      self.memory = memory
      let pipeline = ImagePipeline.testing(parts) {
        $0.memoryCache = memory
        $0.decoders = DecoderRegistry([decoder])
        $0.storagePolicy = .both
      }
      self.pipeline = pipeline
      var request = ImageRequest(url: url, size: .pixels(16, 16))
      request.processors = [processor.processor("one"), processor.processor("two")]
      parts.loader.answer(url, with: file, headers: test.headers)

      // Everything on disk, and then what is too much taken away.
      var other = request
      switch test.memory {
      case .nothing, .image: break
      case .otherScopeOfIt: other.cachePartition = "somebody else"
      case .larger: (other.size, other.processors) = (.pixels(40, 40), [])
      case .prefix: other.processors = [request.processors[0]]
      }
      for request in [request, other] { _ = try await pipeline.image(for: request) }
      await pipeline.cache.flush()
      let isKept: Bool
      switch test.memory {
      case .nothing: isKept = false
      case .image: isKept = true
      case .otherScopeOfIt, .larger, .prefix: isKept = false
      }
      if !isKept {
        let kept = test.memory == .nothing ? nil : other.imageKey
        memory.removeAll { key, _ in key != kept }
      }
      for entry in await parts.diskCache.entries() {
        let isFinished = entry.key == request.imageKey && test.hasFinished
        let isOriginal = entry.kind == .original && test.hasOriginal
        if !isFinished, !isOriginal { await parts.diskCache.remove(entry.key) }
      }
      request.cachePolicy = test.policy
      self.request = request
      parts.clock.advance(by: test.age)
      guard test.hasChanged else { return }
      var headers = test.headers
      if headers["ETag"] != nil { headers["ETag"] = "\"2\"" }
      parts.loader.answer(url, with: changed, headers: headers)
    }

    struct Counts: Equatable {
      let loads: Int
      let decodes: Int
      let steps: Int
      let reads: Int
      let memoryLooks: Int
    }

    var counts: Counts {
      let statistics = memory.statistics
      return Counts(
        loads: parts.loader.counts.loads,
        decodes: decoder.decodes.count,
        steps: processor.count,
        reads: parts.diskCache.counts.reads,
        memoryLooks: statistics.hits + statistics.misses,
      )
    }
  }

  @Test(arguments: Memory.allCases)
  func whatIsExplainedIsWhatThenHappensWhereverThingsAre(_ memory: Memory) async throws {
    let file = TestPicture.png
    let changed = try Bitmap.testPattern(width: 60, height: 44).encoded(as: .png)
    var kinds: Set<String> = []
    // Half of them, the same each time, unless all situations are to be played.
    var random = SplitMix64(seed: 1)
    for test in Self.cases(memory) where ExactCountTests.playsAll || random.chance(1, in: 2) {
      let scene = try await Scene(test, file, changed)
      let before = scene.counts
      let explanation = await scene.pipeline.explain(scene.request)
      // Nothing was used, fetched or made.
      #expect(scene.counts == before, "\(test)")

      let response = try? await scene.pipeline.imageTask(for: scene.request).response
      if explanation.transfer == .behind {
        await scene.parts.loader.wait { $0.loads > before.loads && $0.running == 0 }
      }
      let after = scene.counts
      kinds.insert("\(explanation.transfer) \(explanation.origin.map { "\($0)" } ?? "?") \(explanation.isStale)")
      let comment: Comment = "\(test)\n\(explanation)"

      #expect((explanation.failure != nil) == (response == nil), comment)
      #expect(after.loads - before.loads == (explanation.transfer == .none ? 0 : 1), comment)
      if explanation.transfer == .conditional {
        #expect(scene.parts.loader.requests.last?.headers["If-None-Match"] == "\"1\"", comment)
      }
      guard let response else { continue }
      if let origin = explanation.origin { #expect(response.origin == origin, comment) }
      #expect(response.isStale == explanation.isStale, comment)
      // What comes behind may be decoded too.
      if explanation.transfer == .behind { continue }
      let isNew = test.hasChanged && explanation.transfer != .none
      let decodes = explanation.decodes ?? isNew
      #expect(after.decodes - before.decodes == (decodes ? 1 : 0), comment)
      let steps = explanation.decodes == nil && isNew ? 2 : explanation.processorCount
      #expect(after.steps - before.steps == steps, comment)
    }
    // All that can be told apart was met.
    var expected: Set = ["full network false", "conditional ? false"]
    if memory == .nothing || memory == .otherScopeOfIt {
      expected.formUnion(["none disk false", "none disk true", "none ? false", "behind disk true"])
    } else {
      expected.insert("none memory false")
    }
    if memory == .image || memory == .prefix { expected.insert("behind memory true") }
    #expect(kinds.isSuperset(of: expected), "\(kinds)")
  }

  // MARK: What is shared, and other sources

  private let parts = PipelineParts()

  @Test
  func whatIsUnderWayIsShared() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let request = ImageRequest(url: Self.url, size: .pixels(16, 16))
    let task = pipeline.imageTask(for: request)
    _ = try await parts.loader.nextLoad(of: Self.url)

    let same = await pipeline.explain(request)
    #expect(same.sharing == .image(steps: 0))
    #expect(same.transfer == .none)
    let otherSize = await pipeline.explain(ImageRequest(url: Self.url, size: .pixels(8, 8)))
    #expect(otherSize.sharing == .bytes)
    #expect(otherSize.decodes == true)
    let other = await pipeline.explain(ImageRequest(url: "https://example.org/b.png"))
    #expect(other.sharing == nil)
    #expect(other.transfer == .full)
    task.cancel()
  }

  @Test
  func ofSeveralSourcesTheOneThatIsServedIsExplained() async throws {
    let file = TestPicture.png
    let pipeline = ImagePipeline.testing(parts)
    let bad = ImageSource.url("no address")
    let local = ImageSource.data(file, id: "a")
    let explanation = await pipeline.explain(ImageRequest(.first(of: [bad, local])))
    #expect(explanation.origin == .local)
    #expect(explanation.decodes == true)
    let none = await pipeline.explain(ImageRequest(.first(of: [])))
    #expect(none.failure == "no source is given")
    let failing = await pipeline.explain(ImageRequest(.first(of: [bad])))
    #expect(failing.failure != nil)
    // In memory, the second goes before the first.
    _ = try await pipeline.image(for: ImageRequest(local))
    let url = ImageSource.url(Self.url)
    #expect(await pipeline.explain(ImageRequest(.first(of: [url, local]))).origin == .memory)
  }

  @Test
  func aPartOfABrokenDownloadIsNamed() async throws {
    let folder = try TemporaryFolder()
    let cache = try folder.cache(sizeLimit: 50 << 20)
    let pipeline = ImagePipeline.testing(parts) { $0.diskCache = cache }
    let request = ImageRequest(url: Self.url)
    let writer = try #require(await cache.partialWriter(for: request.fetchKey, metadata: Data(), after: nil))
    await writer.append(Data(repeating: 7, count: 300 << 10))
    await writer.keep()
    await cache.flush()

    let explanation = await pipeline.explain(request)
    #expect(explanation.partialByteCount == 300 << 10)
    // It has no entity tag, so nobody could go on with it.
    #expect(explanation.transfer == .full)
    #expect(explanation.description.contains("partial download: 307200 bytes"))
    await cache.close()
  }

  @Test
  func whatIsNotAskedOfAServerIsSaidWithTheReason() async throws {
    let file = TestPicture.png
    let isOnline = Watched(true)
    let pipeline = ImagePipeline.testing(parts) {
      $0.remembersFailures = true
      $0.networkAccess = { isOnline.value ? .full : .offline("the cable is out") }
    }
    let request = ImageRequest(url: Self.url)
    parts.loader.answer(Self.url, FakeResponse(status: 404))
    await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    #expect(await pipeline.explain(request).failure?.hasPrefix("failed 0 s ago") == true)

    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    pipeline.forgetFailures()
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    isOnline.change { $0 = false }
    // In memory, and on disk.
    for pipeline in [pipeline, ImagePipeline.testing(parts) { $0.networkAccess = { .offline("the cable is out") } }] {
      let explanation = await pipeline.explain(request)
      #expect(explanation.failure == nil)
      #expect(explanation.transfer == .none)
      #expect(explanation.isStale)
      #expect(explanation.description.contains("no request is sent: there is no network: the cable is out"))
      let response = try await pipeline.imageTask(for: request).response
      #expect(response.origin == explanation.origin)
      #expect(response.isStale)
      // What is there is nothing for who wants it anew.
      var anew = request
      anew.cachePolicy = .reload
      #expect(await pipeline.explain(anew).failure == "there is no network: the cable is out")
      await #expect(throws: LoadError.self) { try await pipeline.image(for: anew) }
    }
    let other = await pipeline.explain(ImageRequest(url: "https://example.org/b.png"))
    #expect(other.failure == "there is no network: the cable is out")
  }

  @Test
  func anImageMadeOfOtherBytesIsNoneAndDamageIsNamed() async throws {
    let file = TestPicture.png
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let request = ImageRequest(url: Self.url, processors: [Counter().processor("one")])
    let first = ImagePipeline.testing(parts)
    _ = try await first.image(for: request)
    await first.cache.flush()
    var entry = try #require(await parts.diskCache.peek(request.imageKey))
    let pipeline = ImagePipeline.testing(parts)
    #expect(await pipeline.explain(request).origin == .disk)

    entry.contentID = ContentID(low: 1, high: 2)
    await parts.diskCache.store(entry, for: request.imageKey)
    let orphan = await pipeline.explain(request)
    #expect(orphan.finished == .unusable("made from other bytes than the original on disk"))
    #expect(orphan.processorCount == 1)

    parts.diskCache.damage(with: Data("no pixels".utf8))
    await parts.diskCache.remove(request.fetchKey)
    #expect(await pipeline.explain(request).finished == .unusable("damaged"))
  }

  @Test
  func itReadsAsAnExplanation() async throws {
    let file = TestPicture.png
    let headers: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    parts.loader.answer(Self.url, with: file, headers: headers)
    let request = ImageRequest(url: Self.url, processors: [Counter().processor("one")])
    let first = ImagePipeline.testing(parts) { $0.storagePolicy = .original }
    #expect(
      await first.explain(request).description == """
        https://example.org/a.png: fetched from the server (nothing stored); decoded, 1 processor
          policy: standard
          in memory: no
          original on disk: no
        """
    )
    _ = try await first.image(for: request)
    #expect(
      await first.explain(request).description == """
        https://example.org/a.png: from memory
          policy: standard
          in memory: fresh for 60 s
        """
    )
    await first.cache.flush()
    parts.clock.advance(by: .seconds(10))
    let pipeline = ImagePipeline.testing(parts) { $0.storagePolicy = .original }
    #expect(
      await pipeline.explain(request).description == """
        https://example.org/a.png: from disk, no request is sent; decoded, 1 processor
          policy: standard
          in memory: no
          original on disk: fresh for 50 s
        """
    )
    var bright = request
    bright.dynamicRange = .high
    #expect(
      await pipeline.explain(bright).description == """
        https://example.org/a.png: from disk, no request is sent; decoded, 1 processor
          policy: standard
          dynamic range: high
          in memory: no
          original on disk: fresh for 50 s
        """
    )
    parts.clock.advance(by: .seconds(110))
    #expect(
      await pipeline.explain(request).description == """
        https://example.org/a.png: revalidated with the server (max-age); decoded, 1 processor
          policy: standard
          in memory: no
          original on disk: stale for 60 s
          if the server cannot be reached: served for another 23 h
        """
    )
  }
}
