import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// For everything that can be where, how often an encoded image is fetched, decoded and encoded, and that this is what
/// `explain` says.
@Suite(.patient)
struct EncodedCountTests {
  private static let url = "https://example.org/a.png"

  enum Wish: CaseIterable {
    /// Smaller, without metadata.
    case smaller
    /// Smaller, with its metadata, so that its bytes are needed.
    case smallerWithMetadata
    /// As it is, so that its bytes are all that is needed.
    case original
    /// So large that the finished image is stored as a JPEG, from which nothing must be encoded.
    case large
    /// The same in the format that the picture calls for.
    case largeAutomatic

    var isLarge: Bool { self == .large || self == .largeAutomatic }

    /// Those of large ones differ only in what of the caches they use, and take a hundred times as long.
    var policies: [CachePolicy] { isLarge ? [.standard, .cacheFirst] : [.standard, .reload, .cacheFirst, .cacheOnly] }
  }

  struct Case: CustomStringConvertible, Sendable {
    let wish: Wish
    let isInMemory: Bool
    let hasEncoded: Bool
    let hasOriginal: Bool
    /// Large ones are those of the image in memory, too.
    let hasFinished: Bool
    let age: Duration
    let hasChanged: Bool
    let policy: CachePolicy

    var description: String {
      "\(wish), in memory: \(isInMemory), encoded: \(hasEncoded), original: \(hasOriginal), "
        + "finished: \(hasFinished), \(age), changed: "
        + "\(hasChanged), \(policy)"
    }

    static func all(_ wish: Wish) -> [Case] {
      let bools = [false, true]
      var cases: [Case] = []
      for isInMemory in bools {
        for hasEncoded in wish == .original ? [false] : bools {
          for hasOriginal in bools {
            for hasFinished in wish == .smaller || wish.isLarge ? bools : [false] {
              for age in [Duration.seconds(10), .seconds(70)] {
                for hasChanged in wish.isLarge && age < .seconds(60) ? [false] : bools {
                  for policy in wish.policies {
                    cases.append(
                      Case(
                        wish: wish,
                        isInMemory: isInMemory,
                        hasEncoded: hasEncoded,
                        hasOriginal: hasOriginal,
                        hasFinished: hasFinished,
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
        }
      }
      return cases
    }

    /// What has to be done; `nil` where nothing can be.
    var expected: Work? {
      let isReload = policy == .reload
      // Fresh enough for the policy.
      let isUsable = !isReload && (policy != .standard || age < .seconds(60))
      let mayAsk = policy != .cacheOnly
      if hasEncoded, isUsable { return Work() }
      if hasEncoded, !isReload {
        // Confirmed by its original; made again if that has changed.
        return hasChanged ? Work(loads: 1, decodes: 1, encodes: 1) : Work(loads: 1)
      }
      let isFound = hasOriginal && isUsable
      switch wish {
      case .original:
        guard isFound || mayAsk else { return nil }
        return Work(loads: isFound ? 0 : 1)
      case .smallerWithMetadata:
        guard isFound || mayAsk else { return nil }
        let isKnown = isInMemory && (isFound || !hasChanged)
        return Work(loads: isFound ? 0 : 1, decodes: isKnown ? 0 : 1, encodes: 1)
      case .smaller, .large, .largeAutomatic:
        let isKnown = wish.isLarge ? isInMemory && !hasFinished : isInMemory || hasFinished && !isReload
        if isKnown {
          if isUsable { return Work(encodes: 1) }
          return Work(loads: 1, decodes: hasChanged ? 1 : 0, encodes: 1)
        }
        guard isFound || mayAsk else { return nil }
        return Work(loads: isFound ? 0 : 1, decodes: 1, encodes: 1)
      }
    }
  }

  struct Work: Equatable {
    var loads = 0
    var decodes = 0
    var encodes = 0

    static func - (left: Work, right: Work) -> Work {
      Work(
        loads: left.loads - right.loads,
        decodes: left.decodes - right.decodes,
        encodes: left.encodes - right.encodes,
      )
    }
  }

  /// A pipeline in the state of a case.
  private struct Scene {
    let parts = PipelineParts()
    let decoder = CountingDecoder()
    let encoder = CountingEncoder()
    let pipeline: ImagePipeline
    let request: ImageRequest
    let encoding: ImageEncoding

    static func request(_ wish: Wish) -> ImageRequest {
      ImageRequest(url: url, size: wish == .original ? nil : wish.isLarge ? .pixels(424, 424) : .pixels(16, 16))
    }

    static func encoding(_ wish: Wish) -> ImageEncoding {
      switch wish {
      case .smaller, .large: .png()
      case .smallerWithMetadata, .original: .png().metadata(.keep)
      // As there is no encoder but that of PNG.
      case .largeAutomatic: .automatic()
      }
    }

    init(_ test: Case, _ file: Data, _ changed: Data) async throws {
      let (parts, decoder, encoder) = (parts, decoder, encoder)
      let memory = MemoryCache<CachedImage>(costLimit: 64 << 20, clock: parts.clock)
      pipeline = ImagePipeline.testing(parts) {
        $0.memoryCache = memory
        $0.decoders = DecoderRegistry([decoder])
        $0.encoders = EncoderRegistry([encoder])
        $0.storagePolicy = .both
      }
      encoding = Self.encoding(test.wish)
      var request = Self.request(test.wish)
      parts.loader.answer(url, with: file, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      // Everything everywhere, and then what is too much taken away.
      _ = try await pipeline.image(for: request)
      _ = try await pipeline.encoded(for: request, as: encoding)
      await pipeline.cache.flush()
      if test.wish.isLarge, test.hasFinished {
        // Read from disk, as after a start of the program.
        memory.removeAll()
        _ = try await pipeline.image(for: request)
      }
      if !test.isInMemory { memory.removeAll() }
      let encodedKey = pipeline.context.encodedKey(of: request, NamedEncoding(encoding, pipeline.context))
      for entry in await parts.diskCache.entries() {
        let isFinished = entry.key == request.keys.image && test.hasFinished
        let isWanted =
          entry.kind == .original ? test.hasOriginal : isFinished || entry.key == encodedKey && test.hasEncoded
        if !isWanted { await parts.diskCache.remove(entry.key) }
      }
      request.cachePolicy = test.policy
      self.request = request
      parts.clock.advance(by: test.age)
      guard test.hasChanged else { return }
      parts.loader.answer(url, with: changed, headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""])
    }

    var work: Work {
      Work(loads: parts.loader.counts.loads, decodes: decoder.decodes.count, encodes: encoder.encodes.count)
    }
  }

  @Test(arguments: Wish.allCases)
  func nothingIsDoneTwiceAndExplainSaysWhatIsDone(_ wish: Wish) async throws {
    let scale = wish.isLarge ? 8 : 1
    let file = try Bitmap.testPattern(width: 64 * scale, height: 48 * scale).encoded(as: .png)
    let changed = try Bitmap.testPattern(width: 60 * scale, height: 44 * scale).encoded(as: .png)
    // What whoever has no caches gets.
    var results: [Data] = []
    for body in [file, changed] {
      let parts = PipelineParts()
      parts.loader.answer(Self.url, with: body)
      let pipeline = ImagePipeline.testing(parts) { $0.encoders = EncoderRegistry([PNGEncoder()]) }
      var request = Scene.request(wish)
      request.cacheAccess = .none
      results.append(try await pipeline.encoded(for: request, as: Scene.encoding(wish)).data)
    }
    // Of large ones a third, the same each time, unless all situations are to be played.
    var random = SplitMix64(seed: 1)
    for test in Case.all(wish) where !wish.isLarge || ExactCountTests.playsAll || random.chance(1, in: 3) {
      let scene = try await Scene(test, file, changed)
      let before = scene.work
      let explanation = await scene.pipeline.explain(scene.request, as: scene.encoding)
      #expect(scene.work == before, "explaining did something: \(test)")

      let image = try? await scene.pipeline.encoded(for: scene.request, as: scene.encoding)
      await scene.pipeline.cache.flush()
      let done = scene.work - before
      let comment: Comment = "\(test)\n\(explanation)\n\(done)"

      #expect((image == nil) == (test.expected == nil), comment)
      #expect(done == test.expected ?? Work(), comment)
      #expect((explanation.failure == nil) == (image != nil), comment)
      #expect((explanation.transfer == .none ? 0 : 1) == done.loads, comment)
      if let decodes = explanation.decodes { #expect((decodes ? 1 : 0) == done.decodes, comment) }
      if let encodes = explanation.encodes { #expect((encodes ? 1 : 0) == done.encodes, comment) }
      guard let image else { continue }
      let isNew = test.hasChanged && done.loads == 1
      if wish == .original {
        #expect(image.data == (isNew ? changed : file), comment)
        #expect(image.isOriginal, comment)
      } else {
        #expect(image.width == (wish.isLarge ? 424 : 16), comment)
      }
      // Whatever the caches hold.
      if !image.isStale { #expect(image.data == results[isNew ? 1 : 0], comment) }
      if let origin = explanation.origin { #expect(image.origin == origin, comment) }
      #expect(image.isStale == explanation.isStale, comment)

      // What has just been made is on disk now, if that may be read.
      let again = scene.work
      var repeated = scene.request
      if test.policy == .reload { repeated.cachePolicy = .standard }
      _ = try await scene.pipeline.encoded(for: repeated, as: scene.encoding)
      if !image.isStale { #expect(scene.work == again, comment) }
    }
  }
}
